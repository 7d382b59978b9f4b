"""When a failed attempt is tried again."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from coatcheck.retry import retry_delay
from coatcheck.timings import Timings
from tests.coatcheck.rows import TIMINGS, seconds

DELAYS = TIMINGS.retry_delays
chances = st.floats(0, 1)
growing_delays = st.lists(st.integers(1, 10**6), min_size=1, max_size=8).map(
    lambda waits: tuple(seconds(wait) for wait in sorted(waits))
)


def test_the_first_failure_waits_for_the_first_delay_and_not_for_the_second() -> None:
    waits = [retry_delay(failures, DELAYS, 20, 0.5) for failures in (1, 2, 3, 4)]
    assert waits == [seconds(30), timedelta(minutes=2), timedelta(minutes=8), timedelta(minutes=8)]


def test_production_has_one_delay_for_each_failure_that_is_tried_again() -> None:
    assert len(Timings().retry_delays) == 4


@given(delays=growing_delays, chance=chances)
def test_delays_grow_with_the_failures_and_stay_at_the_last_one(delays: tuple[timedelta, ...], chance: float) -> None:
    waits = [retry_delay(failures, delays, 20, chance) for failures in range(1, 20)]
    assert waits == sorted(waits)
    assert waits[-1] == retry_delay(10**9, delays, 20, chance)


@given(failures=st.integers(-1, 10**9), delays=growing_delays, percent=st.integers(0, 100), chance=chances)
def test_a_delay_is_never_further_from_its_plan_than_the_jitter(
    failures: int, delays: tuple[timedelta, ...], percent: int, chance: float
) -> None:
    planned = retry_delay(failures, delays, 0, chance)
    spread = planned * (percent / 100)
    margin = timedelta(microseconds=2)
    assert planned in delays
    assert planned - spread - margin <= retry_delay(failures, delays, percent, chance) <= planned + spread + margin


def test_retries_on_the_last_delay_spread_as_widely_as_all_others() -> None:
    waits = [retry_delay(50, DELAYS, 20, chance / 199) for chance in range(200)]
    assert min(waits) == DELAYS[-1] * 0.8
    assert max(waits) == DELAYS[-1] * 1.2
    assert len(set(waits)) == 200
