"""The supervisor: everything that is due is rung, however much there is and whatever is broken."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from coatcheck.claim import claim
from coatcheck.doorbell import Doorbell
from coatcheck.job import DUE_SHARDS, Job, State, due_shard
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import Send
from coatcheck.ring import Bell, ring
from coatcheck.row import Row
from coatcheck.store import IndexPage, Unavailable
from coatcheck.supervisor import supervise
from coatcheck.write import Key
from tests.coatcheck.rows import NOW, TIMINGS, a_bell, a_job, an_owned_job, job_in, seconds, stored

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


class Overtaken(MemoryStore):
    """Between the next read and what follows from it, somebody else does something."""

    meanwhile: Callable[[], object] | None = None

    def get(self, key: Key) -> Row | None:
        row = super().get(key)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return row


@pytest.mark.parametrize("claimed", [False, True])
def test_a_supervisor_that_lost_the_race_for_a_dead_workers_job_stops_there_and_starts_nothing(
    *, claimed: bool
) -> None:
    dead = an_owned_job(due=NOW, lease_until=NOW - seconds(5))
    store, queues = Overtaken(rows=stored(dead).rows), MemoryQueues()

    def the_other_brings_it_back() -> None:
        assert supervise(bell(store, queues), still, END) == {"TakeOver": 1}
        assert ring(bell(store, queues), dead.id, NOW) == Send()
        if claimed:
            claim(store, queues.rung[0][1], "owner-2", NOW, TIMINGS)

    store.meanwhile = the_other_brings_it_back
    supervise(bell(store, queues), still, END)
    job = job_in(store)
    assert (job.state, job.attempt, job.failures) == (State.RUNNING if claimed else State.QUEUED, 2, 1)
    assert [doorbell.attempt for _, doorbell in queues.rung] == [2]


@pytest.mark.parametrize(
    "row",
    [
        a_job(state=State.SUCCEEDED, freed=True, told=True, due=None),
        a_job(state=State.CANCELLED, freed=True, told=True, due=None),
        a_job(sent=1, rings=1, due=LATE),
        an_owned_job(),
        a_job(state=State.RETRYING, attempt=2, retry_at=NOW + seconds(30), due=NOW + seconds(90)),
    ],
    ids=["succeeded", "cancelled", "sent", "claimed", "waits for its retry"],
)
def test_a_supervisor_whose_index_lags_acts_on_the_row_as_it_is_and_not_as_the_index_shows_it(row: Job) -> None:
    class Lagging(MemoryStore):
        def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:  # noqa: ARG002  # of long ago
            return IndexPage(ids=(row.id,) if shard == due_shard(row.id) else ())

    store, queues = Lagging(rows=stored(row).rows), MemoryQueues()
    supervise(bell(store, queues), still, END)
    assert (job_in(store), queues.rung, queues.woken) == (row, [], [])


def test_a_supervisor_brings_back_jobs_of_a_kind_that_its_version_does_not_know_and_fails_none() -> None:
    dead = an_owned_job(id="j_dead", kind="of-a-later-version", due=NOW, lease_until=NOW - seconds(5))
    lost = a_job(id="j_lost", kind="of-a-later-version", due=NOW)
    store, queues = stored(dead, lost), MemoryQueues()
    assert supervise(bell(store, queues), still, END) == {"TakeOver": 1, "Send": 1}
    assert [job_in(store, job_id).state for job_id in ("j_dead", "j_lost")] == [State.QUEUED] * 2
    assert queues.dead_letters == []
