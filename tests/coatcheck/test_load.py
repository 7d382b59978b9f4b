"""Poll pacing: the more jobs are open, the more seldom their clients should ask."""

from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import State
from coatcheck.load import (
    LOAD_KEY,
    LONGEST_POLL_SECONDS,
    SHORTEST_POLL_SECONDS,
    LaneLoad,
    Load,
    count_load,
    noted_load,
    poll_seconds,
)
from coatcheck.memory import MemoryStore
from coatcheck.row import milliseconds
from coatcheck.run.pace import LOOK_UP_EVERY, Pace
from coatcheck.store import Store
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, a_job, an_owned_job, seconds, stored


@given(open_jobs=st.integers(0, 10**9), more=st.integers(0, 10**6), polls_per_second=st.integers(1, 10**5))
def test_the_wait_grows_with_the_load_within_its_bounds_and_keeps_to_the_rate(
    open_jobs: int, more: int, polls_per_second: int
) -> None:
    wait = poll_seconds(open_jobs, polls_per_second)
    assert SHORTEST_POLL_SECONDS <= wait <= LONGEST_POLL_SECONDS
    assert wait <= poll_seconds(open_jobs + more, polls_per_second)
    assert open_jobs / wait <= polls_per_second or wait == LONGEST_POLL_SECONDS


@pytest.mark.parametrize(("open_jobs", "wait"), [(0, 2), (2000, 2), (2001, 3), (10_000, 10), (30_000, 30), (10**6, 30)])
def test_thirty_thousand_open_jobs_poll_at_a_thousand_a_second(open_jobs: int, wait: int) -> None:
    assert poll_seconds(open_jobs, 1000) == wait


def counted(store: Store) -> Load:
    return count_load(store, lambda: NOW, NOW + timedelta(minutes=1))


def test_every_open_job_is_counted_whatever_it_waits_for_and_no_other() -> None:
    open_jobs = [
        a_job(id="j_queued"),
        a_job(id="j_later", run_at=NOW + timedelta(days=3), due=NOW + timedelta(days=3)),
        a_job(id="j_retrying", state=State.RETRYING),
        an_owned_job(id="j_running"),
        an_owned_job(id="j_cancelling", state=State.CANCELLING),
    ]
    done = a_job(id="j_done", state=State.SUCCEEDED, freed=True, due=None)
    untold = a_job(id="j_untold", state=State.FAILED, freed=True)
    store = stored(*open_jobs, done, untold)
    assert noted_load(store) == 0
    assert counted(store).open_jobs == noted_load(store) == len(open_jobs)
    assert store.rows[LOAD_KEY]["counted_at"] == milliseconds(NOW)
    del store.rows[open_jobs[0].key]
    assert counted(store).open_jobs == noted_load(store) == len(open_jobs) - 1


def test_who_could_run_and_does_not_waits_in_its_lane_sent_or_not_and_the_longest_wait_is_the_lanes() -> None:
    ago = {name: NOW - timedelta(minutes=minutes) for name, minutes in (("new", 1), ("old", 20), ("older", 90))}
    store = stored(
        a_job(id="j_new", ready_at=ago["new"]),
        a_job(id="j_sent", ready_at=ago["old"], sent=1),
        a_job(id="j_now", ready_at=NOW),
        a_job(id="j_bulk", lane="bulk", ready_at=ago["new"]),
        a_job(id="j_capped", lane="bulk", ready_at=ago["older"], waiting="tenant#acme", waits_since=ago["new"]),
        # none of these waits for us
        a_job(id="j_later", ready_at=NOW + seconds(0.001)),
        a_job(id="j_retrying", state=State.RETRYING, ready_at=ago["older"]),
        an_owned_job(id="j_running", ready_at=ago["older"]),
        a_job(id="j_paused", ready_at=ago["older"], waiting="pause#lane#interactive", waits_since=ago["new"]),
        a_job(id="j_untold", state=State.FAILED, ready_at=ago["older"]),
    )
    load = counted(store)
    assert load.lanes == {
        "interactive": LaneLoad(backlog=3, ready_since=ago["old"]),
        "bulk": LaneLoad(backlog=2, ready_since=ago["older"]),
    }
    assert load.lanes["bulk"].oldest_wait(NOW) == timedelta(minutes=90)
    assert store.rows[LOAD_KEY]["lanes"] == {
        lane: {"backlog": each.backlog, "ready_since": milliseconds(each.ready_since or NOW)}
        for lane, each in load.lanes.items()
    }


def test_a_count_that_its_time_cuts_short_says_at_least_how_many_and_is_not_noted() -> None:
    store = stored(*(a_job(id=f"j_{number}") for number in range(60)))
    store.page_size = 2
    clock = (NOW + seconds(number) for number in count())
    load = count_load(store, lambda: next(clock), NOW + seconds(10))
    assert not load.whole
    assert 0 < load.open_jobs == load.lanes["interactive"].backlog <= 20
    assert LOAD_KEY not in store.rows


def paced(open_jobs: int) -> tuple[MemoryStore, FailingStore, Pace]:
    rows = MemoryStore(rows={LOAD_KEY: {"open_jobs": open_jobs}})
    store = FailingStore(under=rows)
    return rows, store, Pace(store, 1)


def test_a_process_looks_the_load_up_now_and_then_and_not_with_every_poll() -> None:
    rows, store, pace = paced(7)
    assert [pace.seconds(NOW + seconds(0.5 * number)) for number in range(20)] == [7] * 20
    assert store.calls == ["get"]
    rows.rows[LOAD_KEY] = {"open_jobs": 9}
    assert pace.seconds(NOW + LOOK_UP_EVERY) == 9
    assert store.calls == ["get", "get"]


def test_before_anything_was_counted_clients_wait_the_shortest_time() -> None:
    assert Pace(MemoryStore(), 1).seconds(NOW) == SHORTEST_POLL_SECONDS


def test_a_load_that_cannot_be_looked_up_is_the_last_one_and_nobodys_trouble() -> None:
    _, store, pace = paced(7)
    assert pace.seconds(NOW) == 7
    store.reads = 1
    assert pace.seconds(NOW + LOOK_UP_EVERY) == 7
    _, store, pace = paced(7)
    store.reads = 1
    assert pace.seconds(NOW) == SHORTEST_POLL_SECONDS
