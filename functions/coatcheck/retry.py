"""When a failed attempt is tried again."""

from collections.abc import Sequence
from datetime import timedelta


def retry_delay(failures: int, delays: Sequence[timedelta], jitter_percent: int, chance: float) -> timedelta:
    """The wait after the n-th failure (from 1): the n-th delay, or the last one, give or take the jitter.

    `chance` is a random number from 0 to 1; the jitter is applied last, so that equal delays spread out, too.
    """
    delay = delays[min(max(failures, 1), len(delays)) - 1]
    spread = jitter_percent / 100
    return delay * (1 - spread + 2 * spread * chance)
