"""Rates: no more than they say in any time, and a wait that is told is long enough."""

from hypothesis import given
from hypothesis import strategies as st

from coatcheck.memory import MemoryStore
from coatcheck.rate import CLOCKS_APART, SECOND, Rate, Spending, spending, wait
from coatcheck.store import Refused
from coatcheck.write import Key, Table, put, update

KEY = Key(table=Table.TENANTS, id="standing#acme")
NOW = 1_794_312_000 * SECOND
rates = st.builds(Rate, per_second=st.integers(1, 10_000), burst=st.integers(1, 200))
pauses = st.lists(st.one_of(st.just(0), st.integers(0, 3000), st.integers(0, 3 * SECOND)), max_size=40)


def taken(full_at: int | None, spent: Spending) -> int:
    return spent.full_at if spent.full_at is not None else (full_at or 0) + spent.adds


def admitted(rate: Rate, waits: list[int]) -> list[int]:
    """When requests were let in that came with these pauses between them."""
    full_at, now, found = None, NOW, list[int]()
    for pause in waits:
        now += pause
        if wait(rate, full_at, now) == 0:
            full_at = taken(full_at, spending(rate, full_at, now))
            found.append(now)
    return found


@given(rate=rates, waits=pauses)
def test_in_any_time_there_are_no_more_than_the_burst_and_what_the_rate_adds(rate: Rate, waits: list[int]) -> None:
    times = admitted(rate, waits)
    for first, begin in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= rate.burst + (times[last] - begin) * rate.per_second / SECOND


@given(rate=rates, waits=pauses, pause=st.integers(0, SECOND))
def test_who_waits_as_long_as_was_said_is_let_in_and_who_comes_earlier_is_not(
    rate: Rate, waits: list[int], pause: int
) -> None:
    full_at, now = None, NOW
    for each in waits:
        now += each
        if wait(rate, full_at, now) == 0:
            full_at = taken(full_at, spending(rate, full_at, now))
    now += pause
    left = wait(rate, full_at, now)
    assert wait(rate, full_at, now + left) == 0
    assert left == 0 or wait(rate, full_at, now + left - 1) == 1
    assert left <= rate.refill


@given(rate=rates, seconds=st.integers(0, 1000))
def test_after_a_quiet_time_the_whole_burst_is_there_and_no_more(rate: Rate, seconds: int) -> None:
    full_at = NOW - seconds * SECOND
    for _ in range(rate.burst):
        assert wait(rate, full_at, NOW) == 0
        full_at = taken(full_at, spending(rate, full_at, NOW))
    assert wait(rate, full_at, NOW) == rate.refill


def test_two_at_once_take_two_tokens_and_the_last_one_goes_to_one_of_them() -> None:
    """Both saw the same bucket."""
    rate = Rate(per_second=1, burst=3)
    store = MemoryStore()
    store.write(put(KEY, {"full_at": NOW}))

    def take(seen: int) -> bool:
        spent = spending(rate, seen, NOW)
        try:
            changes = {} if spent.full_at is None else {"full_at": spent.full_at}
            store.write(update(KEY, spent.when, changes, add={"full_at": spent.adds} if spent.adds else {}))
        except Refused:
            return False
        return True

    assert [take(NOW), take(NOW)] == [True, False]  # the bucket was full, and then no longer
    seen = NOW + rate.refill
    assert [take(seen), take(seen), take(seen)] == [True, True, False]
    assert store.rows[KEY]["full_at"] == NOW + 3 * SECOND


def test_a_bucket_that_was_emptied_under_much_wider_limits_has_a_last_token_and_is_then_an_empty_one() -> None:
    rate = Rate(per_second=10, burst=50)
    full_at = NOW + rate.empty + CLOCKS_APART + 1
    assert wait(rate, full_at, NOW) == 0
    full_at = taken(full_at, spending(rate, full_at, NOW))
    assert wait(rate, full_at, NOW) == rate.refill


def test_clocks_that_are_a_little_apart_open_no_bucket() -> None:
    rate = Rate(per_second=10, burst=50)
    assert wait(rate, NOW + rate.empty + SECOND, NOW) == rate.refill + SECOND
