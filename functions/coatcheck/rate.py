"""A rate of requests: a bucket of tokens, of which nothing is kept but the moment at which it will be full again.

Moments are microseconds since the epoch, so that fast rates need no fractions.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from coatcheck.row import EPOCH
from coatcheck.write import When, above, absent, any_of, at_most, is_

SECOND = 1_000_000
CLOCKS_APART = 60 * SECOND


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many requests a second, and so many at once after a quiet time."""

    per_second: int
    burst: int

    @property
    def refill(self) -> int:
        """Microseconds until the next token."""
        return -(-SECOND // self.per_second)

    @property
    def empty(self) -> int:
        """How far ahead the moment is at which an empty bucket will be full."""
        return self.burst * self.refill


@dataclass(frozen=True, kw_only=True)
class Spending:
    """How a token is taken from the attribute `full_at`: when it may be, and what is set or added."""

    when: When
    full_at: int | None = None
    adds: int = 0


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def wait(rate: Rate, full_at: int | None, now: int) -> int:
    """Microseconds until the bucket has a token; 0 if it has one.

    One that would be empty for much longer than it can be was emptied under other limits, or by a clock that is wrong:
    it counts as one with a last token.
    """
    lacks = 0 if full_at is None else full_at - now
    return 0 if lacks > rate.empty + CLOCKS_APART else max(0, lacks - (rate.empty - rate.refill))


def spending(rate: Rate, full_at: int | None, now: int) -> Spending:
    """How to take a token from a bucket that was seen to have one.

    Who takes one meanwhile does not stand in the way as long as one is left: two at once take two.
    """
    if full_at is None or full_at <= now:
        return Spending(when=(any_of(absent("full_at"), at_most("full_at", now)),), full_at=now + rate.refill)
    if full_at - now > rate.empty + CLOCKS_APART:
        return Spending(when=(is_("full_at", full_at),), full_at=now + rate.empty)
    left = now + rate.empty - rate.refill
    return Spending(when=(above("full_at", now), at_most("full_at", left)), adds=rate.refill)
