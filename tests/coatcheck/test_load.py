"""Poll pacing: the more jobs are open, the more seldom their clients should ask."""

from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import State
from coatcheck.limiter import MOST_SLOTS
from coatcheck.load import (
    COUNT_EVERY,
    LOAD_KEY,
    LONGEST_POLL_SECONDS,
    MOST_NOTED,
    SHORTEST_POLL_SECONDS,
    LaneLoad,
    Load,
    NotedLoad,
    count_load,
    noted_load,
    poll_seconds,
)
from coatcheck.memory import MemoryStore
from coatcheck.row import milliseconds
from coatcheck.run.known_load import KnownLoad
from coatcheck.run.pace import Pace
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
    return count_load(store, lambda: NOW, NOW + timedelta(minutes=1), {"interactive": 3, "bulk": 10})


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
    assert noted_load(store) == NotedLoad()
    assert counted(store).open_jobs == noted_load(store).open_jobs == len(open_jobs)
    assert store.rows[LOAD_KEY]["counted_at"] == milliseconds(NOW)
    del store.rows[open_jobs[0].key]
    assert counted(store).open_jobs == noted_load(store).open_jobs == len(open_jobs) - 1


def test_who_could_run_and_does_not_waits_in_its_lane_and_the_longest_wait_for_a_worker_is_the_lanes() -> None:
    ago = {name: NOW - timedelta(minutes=minutes) for name, minutes in (("new", 1), ("old", 20), ("older", 90))}
    store = stored(
        a_job(id="j_new", ready_at=ago["new"]),
        a_job(id="j_sent", ready_at=ago["old"], sent=1),
        a_job(id="j_now", ready_at=NOW),
        a_job(id="j_bulk", lane="bulk", ready_at=ago["new"]),
        # waits for the tenant's other jobs, and for no worker
        a_job(id="j_capped", lane="bulk", ready_at=ago["older"], waiting="tenant#bulk#acme", waits_since=ago["new"]),
        # none of these waits for us
        a_job(id="j_later", ready_at=NOW + seconds(0.001)),
        a_job(id="j_retrying", state=State.RETRYING, ready_at=ago["older"]),
        an_owned_job(id="j_running", ready_at=ago["older"]),
        a_job(id="j_paused", ready_at=ago["older"], waiting="pause#lane#interactive", waits_since=ago["new"]),
        a_job(id="j_untold", state=State.FAILED, ready_at=ago["older"]),
    )
    load = counted(store)
    assert load.lanes == {
        "interactive": LaneLoad(backlog=3, fair_backlog=3, ready_since=ago["old"]),
        "bulk": LaneLoad(backlog=2, fair_backlog=2, ready_since=ago["new"]),
    }
    assert load.lanes["interactive"].oldest_wait(NOW) == timedelta(minutes=20)
    assert store.rows[LOAD_KEY]["lanes"] == {
        lane: {
            "backlog": each.backlog,
            "fair_backlog": each.fair_backlog,
            "ready_since": milliseconds(each.ready_since or NOW),
        }
        for lane, each in load.lanes.items()
    }


def test_of_each_tenant_no_more_wait_in_a_lane_than_it_may_have_in_flight() -> None:
    """One tenant's flood is not what another one waits for."""
    flood = [a_job(id=f"j_a{number}", tenant="acme", waiting="tenant#interactive#acme") for number in range(200)]
    few = [a_job(id=f"j_g{number}", tenant="globex") for number in range(2)]
    other_lane = [a_job(id=f"j_b{number}", tenant="globex", lane="slow") for number in range(120)]
    load = counted(stored(*flood, *few, *other_lane))
    assert (load.lanes["interactive"].backlog, load.lanes["interactive"].fair_backlog) == (202, 3 + 2)
    assert load.lanes["interactive"].oldest_wait(NOW) == timedelta(0)
    assert (load.lanes["slow"].backlog, load.lanes["slow"].fair_backlog) == (120, MOST_SLOTS)


def test_it_is_noted_whose_the_open_jobs_are_of_those_with_the_most() -> None:
    store = stored(
        *(a_job(id=f"j_{number}", tenant=f"tenant-{number}") for number in range(MOST_NOTED)),
        *(an_owned_job(id=f"j_r{number}", tenant="acme") for number in range(2)),
        a_job(id="j_b", tenant="acme", lane="bulk", run_at=NOW + timedelta(days=1), ready_at=NOW + timedelta(days=1)),
    )
    counted(store)
    load = noted_load(store)
    assert load.tenants["acme"] == {"interactive": 2, "bulk": 1}
    assert (load.open_of("acme"), load.open_of("acme", "bulk"), load.open_of("nobody")) == (3, 1, 0)
    assert len(load.tenants) == MOST_NOTED
    assert load.as_of == NOW


def test_a_count_that_its_time_cuts_short_says_at_least_how_many_and_is_not_noted() -> None:
    store = stored(*(a_job(id=f"j_{number}") for number in range(60)))
    store.page_size = 2
    clock = (NOW + seconds(number) for number in count())
    load = count_load(store, lambda: next(clock), NOW + seconds(10), {})
    assert not load.whole
    assert 0 < load.open_jobs == load.lanes["interactive"].backlog <= 20
    assert LOAD_KEY not in store.rows


def test_a_count_that_ends_after_one_that_began_later_is_not_noted() -> None:
    """Two supervisors at once. What was accepted is tallied from the later count on."""
    store = stored(a_job(id="j_1"))
    later: list[Load] = []

    def clock() -> datetime:
        if not later and next(reads):
            later.append(count_load(store, lambda: NOW + seconds(1), NOW + seconds(60), {}))
        return NOW

    reads = count()
    assert count_load(store, clock, NOW + seconds(60), {}) == later[0]
    assert noted_load(store).as_of == NOW + seconds(1)


def paced(open_jobs: int) -> tuple[MemoryStore, FailingStore, Pace]:
    rows = MemoryStore(rows={LOAD_KEY: {"open_jobs": open_jobs}})
    store = FailingStore(under=rows)
    return rows, store, Pace(KnownLoad(store), 1)


def test_a_process_looks_the_load_up_now_and_then_and_not_with_every_poll() -> None:
    rows, store, pace = paced(7)
    assert [pace.seconds(NOW + seconds(0.5 * number)) for number in range(20)] == [7] * 20
    assert store.calls == ["get"]
    rows.rows[LOAD_KEY] = {"open_jobs": 9}
    assert pace.seconds(NOW + COUNT_EVERY) == 9
    assert store.calls == ["get", "get"]


def test_before_anything_was_counted_clients_wait_the_shortest_time() -> None:
    assert Pace(KnownLoad(MemoryStore()), 1).seconds(NOW) == SHORTEST_POLL_SECONDS


def test_a_load_that_cannot_be_looked_up_is_the_last_one_and_nobodys_trouble() -> None:
    _, store, pace = paced(7)
    assert pace.seconds(NOW) == 7
    store.reads = 1
    assert pace.seconds(NOW + COUNT_EVERY) == 7
    _, store, pace = paced(7)
    store.reads = 1
    assert pace.seconds(NOW) == SHORTEST_POLL_SECONDS
