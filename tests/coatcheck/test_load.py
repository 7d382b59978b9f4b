"""Poll pacing: the more jobs are open, the more seldom their clients should ask."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import State
from coatcheck.load import LOAD_KEY, LONGEST_POLL_SECONDS, SHORTEST_POLL_SECONDS, count_load, noted_load, poll_seconds
from coatcheck.memory import MemoryStore
from coatcheck.row import milliseconds
from coatcheck.run.pace import LOOK_UP_EVERY, Pace
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


def test_every_open_job_is_counted_whatever_it_waits_for_and_no_other() -> None:
    open_jobs = [
        a_job(id="j_queued"),
        a_job(id="j_later", run_at=NOW + timedelta(days=3), due=NOW + timedelta(days=3)),
        a_job(id="j_retrying", state=State.RETRYING),
        an_owned_job(id="j_running"),
        an_owned_job(id="j_cancelling", state=State.CANCELLING),
    ]
    store = stored(*open_jobs, a_job(id="j_done", state=State.SUCCEEDED, freed=True, due=None))
    assert noted_load(store) == 0
    assert count_load(store, NOW) == noted_load(store) == len(open_jobs)
    assert store.rows[LOAD_KEY] == {"open_jobs": len(open_jobs), "counted_at": milliseconds(NOW)}
    del store.rows[open_jobs[0].key]
    assert count_load(store, NOW) == noted_load(store) == len(open_jobs) - 1


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
