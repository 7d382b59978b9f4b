"""Clocks that a test turns."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Condition, Event

from tests.coatcheck.rows import NOW

PATIENCE_SECONDS = 10


class VirtualClock:
    """For one thread: who waits moves the time on, at once."""

    def __init__(self, now: datetime = NOW) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time

    def wait(self, event: Event, seconds: float) -> None:
        if not event.is_set():
            self.advance(seconds)

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=max(0.0, seconds))


class HandTurnedClock:
    """For several threads: who waits is held until the test has moved the time far enough."""

    def __init__(self, now: datetime = NOW) -> None:
        self._time = now
        self._changed = Condition()
        self._waiting = 0

    def now(self) -> datetime:
        return self._time

    def wait(self, event: Event, seconds: float) -> None:
        end = self._time + timedelta(seconds=max(0.0, seconds))
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            while self._time < end and not event.is_set():
                self._changed.wait(0.005)  # an event tells nobody that it was set
            self._waiting -= 1
            self._changed.notify_all()

    def advance(self, seconds: float) -> None:
        """Move the time, once somebody waits for it."""
        self.await_waiting()
        self.advance_alone(seconds)

    def advance_alone(self, seconds: float) -> None:
        """Move the time, whoever waits."""
        with self._changed:
            self._time += timedelta(seconds=seconds)
            self._changed.notify_all()

    def await_waiting(self) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._waiting > 0, PATIENCE_SECONDS):
                raise TimeoutError("nobody waits on this clock")


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Poll a condition with a deadline."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.002)
    raise TimeoutError(f"it never came to pass that {what}")
