"""The supervisor: everything that is due is rung, however much there is and whatever is broken."""

from collections.abc import Callable
from datetime import datetime, timedelta

from coatcheck.doorbell import Doorbell
from coatcheck.job import DUE_SHARDS, Job, State, due_shard
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.ring import Bell
from coatcheck.store import Unavailable
from coatcheck.supervisor import supervise
from tests.coatcheck.rows import NOW, a_bell, a_job, an_owned_job, job_in, seconds, stored

END = NOW + timedelta(minutes=1)
LATE = NOW + timedelta(hours=1)


def jobs(number: int, **changes: object) -> list[Job]:
    ids = [f"j_{position:026}" for position in range(number)]
    return [a_job(id=job_id, root=job_id, due=NOW - seconds(1), **changes) for job_id in ids]


def bell(store: MemoryStore, queues: MemoryQueues | None = None) -> Bell:
    return a_bell(store, queues)


def still() -> datetime:
    return NOW


def ticking(step: float) -> Callable[[], datetime]:
    times = iter(NOW + seconds(step * number) for number in range(10**6))
    return lambda: next(times)


def test_every_job_that_is_due_is_rung_over_all_shards_and_pages() -> None:
    due = jobs(50)
    store, queues = stored(*due), MemoryQueues()
    store.page_size = 2
    assert {due_shard(job.id) for job in due} == {f"due#{shard}" for shard in range(DUE_SHARDS)}
    assert supervise(bell(store, queues), still, END) == {"Send": 50}
    assert {doorbell.job_id for _, doorbell in queues.rung} == {job.id for job in due}
    assert supervise(bell(store, queues), still, END) == {}


def test_what_is_not_due_is_left_alone() -> None:
    store = stored(a_job(due=NOW + seconds(1)), an_owned_job(id="j_b", due=NOW + seconds(65)))
    assert supervise(bell(store), still, END) == {}


def test_jobs_of_dead_workers_come_back_and_those_of_live_ones_are_put_off() -> None:
    dead = an_owned_job(id="j_dead", due=NOW, lease_until=NOW - seconds(5))
    alive = an_owned_job(id="j_alive", due=NOW)
    store = stored(dead, alive)
    assert supervise(bell(store), still, END) == {"TakeOver": 1, "Postpone": 1}
    assert (job_in(store, "j_dead").state, job_in(store, "j_alive").state) == (State.QUEUED, State.RUNNING)


def test_two_supervisors_at_once_charge_a_death_once() -> None:
    store = stored(an_owned_job(due=NOW, lease_until=NOW - seconds(5)))
    one = supervise(bell(store), still, END)
    two = supervise(bell(store), still, END)
    assert (one, two) == ({"TakeOver": 1}, {})
    assert job_in(store).failures == 1


def test_it_stops_when_its_time_is_over_and_the_next_walk_goes_on() -> None:
    store = stored(*jobs(10))
    first = supervise(bell(store), ticking(10), END)
    assert 0 < first["Send"] < 10
    rest = supervise(bell(store), still, END)
    assert first["Send"] + rest["Send"] == 10


def test_a_job_that_the_service_cannot_serve_stays_due_and_is_nobody_elses_trouble() -> None:
    class Choosy(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            if doorbell.job_id == "j_00000000000000000000000003":
                raise Unavailable("ThrottlingException")
            super().ring(lane, doorbell)

    store, queues = stored(*jobs(6)), Choosy()
    assert supervise(bell(store, queues), still, END) == {"Send": 5, "Unavailable": 1}
    assert supervise(bell(store), still, END) == {"Send": 1}


def test_a_row_that_cannot_be_read_is_nobody_elses_trouble() -> None:
    due = jobs(6)
    store = stored(*due)
    store.rows[due[3].key]["state"] = "of a later version"
    failures: list[tuple[str, str]] = []
    taken = supervise(bell(store), still, END, lambda job_id, error: failures.append((job_id, type(error).__name__)))
    assert taken == {"Send": 5, "Broken": 1}
    assert failures == [(due[3].id, "ValidationError")]
