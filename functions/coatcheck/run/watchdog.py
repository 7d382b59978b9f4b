"""The watchdog: ends the process when a lease runs out, even if its code never releases the interpreter lock."""

import faulthandler
from datetime import timedelta
from typing import Protocol

STDERR = 2


class Watchdog(Protocol):
    def arm(self, span: timedelta) -> None:
        """End the process after `span`, unless armed again or cancelled before."""

    def cancel(self) -> None: ...


class FaultHandlerWatchdog:
    """Waits in a thread of its own in C, writes every thread's traceback and exits."""

    def arm(self, span: timedelta) -> None:
        faulthandler.dump_traceback_later(max(span.total_seconds(), 0.001), exit=True, file=STDERR)

    def cancel(self) -> None:
        faulthandler.cancel_dump_traceback_later()
