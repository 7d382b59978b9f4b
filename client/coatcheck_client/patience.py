"""Bearing with what passes by itself: how long to wait before another try, and when to give up."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from coatcheck_client.trouble import Trouble

T = TypeVar("T")

LONGEST_ASKED_SECONDS = 300.0
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 16.0


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Time and chance, for tests to replace. `elapsed` is in seconds from an arbitrary moment and never goes back."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    elapsed: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


WALL_CLOCK = Clock()


class Patience:
    """Waits longer after each failure in a row, and lets the trouble fly when that would last over `seconds` in all."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self.renew()

    @property
    def left(self) -> float:
        return self._until - self._clock.elapsed()

    def renew(self) -> None:
        """Things go on: begin anew."""
        self._failures = 0
        self._until = self._clock.elapsed() + self._seconds

    def bear(self, trouble: Trouble) -> None:
        """Wait until another try makes sense, and never less than was asked for. Raises the trouble if none does."""
        own = min(_FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10), _LONGEST_PAUSE_SECONDS)
        # Everybody was asked to wait for as long: the spread on top keeps them from coming back together.
        pause = (trouble.retry_after or 0.0) + own * (1 + self._clock.chance()) / 2
        if not trouble.passes or pause >= self.left:
            raise trouble
        self._failures += 1
        self._clock.sleep(pause)

    def over(self, call: Callable[[], T]) -> T:
        """What the call returns in the end. Raises its last trouble."""
        while True:
            try:
                return call()
            except Trouble as trouble:
                self.bear(trouble)


def asked_seconds(retry_after: str, now: datetime) -> float | None:
    """The wait that a Retry-After header asks for, a number or a date, within bounds; None if it says nothing."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            moment = parsedate_to_datetime(retry_after)
        except (ValueError, OverflowError):
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (aware - now).total_seconds()
    return None if seconds != seconds else min(max(seconds, 0.0), LONGEST_ASKED_SECONDS)  # noqa: PLR0124 (a NaN)
