"""The wall clock."""

import time
from datetime import UTC, datetime
from threading import Event
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime: ...

    def wait(self, event: Event, seconds: float) -> None:
        """Let time pass, until the event at the latest."""


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, event: Event, seconds: float) -> None:
        event.wait(max(0.0, seconds))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # this is the clock that rules are given, so that tests need not wait
