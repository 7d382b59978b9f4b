"""The heartbeat: a thread that renews the lease, row first and then the message, until it is stopped and joined."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event

from coatcheck.context import Log
from coatcheck.doorbell import Message
from coatcheck.endings import LeaseLost
from coatcheck.job import Error, Reason
from coatcheck.outcome import Failed, Outcome
from coatcheck.run.clock import Clock
from coatcheck.run.lease import HeldLease
from coatcheck.run.threads import REAL_THREADS, Running, Threads
from coatcheck.run.watchdog import Watchdog
from coatcheck.store import Store, Unavailable
from coatcheck.timings import Timings

MIDDLE = 0.5
"""The chance of a retry delay without jitter."""

OUT_OF_TIME = Failed(
    error=Error(type=Reason.OUT_OF_TIME, message="no checkpoint came before the function's time was over")
)


class Heartbeat:
    """Beats for one attempt. It has its own store and message, whose clients have short timeouts."""

    def __init__(
        self,
        *,
        lease: HeldLease,
        store: Store,
        message: Message,
        watchdog: Watchdog,
        clock: Clock,
        timings: Timings,
        hard_stop_at: datetime,
        end_process: Callable[[], None],
        log: Log,
        threads: Threads = REAL_THREADS,
    ) -> None:
        self._lease = lease
        self._store = store
        self._message = message
        self._watchdog = watchdog
        self._clock = clock
        self._timings = timings
        self._hard_stop_at = hard_stop_at
        self._end_process = end_process
        self._log = log
        self._stopped = Event()
        self._threads = threads
        self._thread: Running | None = None

    def start(self) -> None:
        self._thread = self._threads.start("heartbeat", self._run)

    def stop(self) -> None:
        """No beat is on its way when this returns."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def beat(self) -> timedelta:
        """Beat once, and say when to beat next."""
        if (ending := self._overdue()) is not None:
            self._end(ending)
            return self._timings.lease
        try:
            self._lease.beat(self._store)
        except Unavailable as error:
            self._log.warning("a heartbeat failed", code=error.code)
            return self._at_most(self._timings.beat_retry)
        except LeaseLost:
            # The watchdog is not armed again: if the handler does not stop by itself, it ends with the lease.
            self._log.warning("the lease is lost")
            return self._timings.lease
        self._watchdog.arm(self._lease.remaining)
        self.hide()
        return self._at_most(self._timings.beat)

    def _run(self) -> None:
        wait = self._at_most(self._timings.beat)
        while True:
            self._clock.wait(self._stopped, wait.total_seconds())
            if self._stopped.is_set():
                return
            wait = self.beat()

    def hide(self) -> None:
        """The row decides who owns the job. SQS' answer proves nothing, so a failure only costs a stale doorbell."""
        try:
            self._message.hide(self._lease.remaining + self._timings.message_margin)
        except Unavailable as error:
            self._log.warning("the message could not be hidden longer", code=error.code)

    def _at_most(self, wait: timedelta) -> timedelta:
        """The wait for the next beat, but not beyond what may end the attempt."""
        end = min(self._hard_stop_at, self._lease.next_look)
        return min(wait, max(end - self._clock.now(), timedelta(0)))

    def _overdue(self) -> Outcome | None:
        """How the attempt ends here: its handler does not stop by itself, or the function's time is nearly over."""
        if self._clock.now() >= self._hard_stop_at:
            return self._lease.ending() or OUT_OF_TIME
        return self._lease.unanswered()

    def _end(self, ending: Outcome) -> None:
        """Settle first, then end the process: code that does not come to a checkpoint stops in no other way."""
        try:
            self._lease.settle(ending, MIDDLE)
        except (LeaseLost, Unavailable):
            self._log.warning("the attempt could not be settled before its end")
        self._log.warning("the handler was ended", outcome=type(ending).__name__, reason=_reason(ending))
        self._end_process()


def _reason(ending: Outcome) -> str:
    match ending:
        case Failed(error=error):
            return error.type
        case _:
            return ""
