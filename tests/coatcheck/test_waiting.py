"""Waiting for a job: held until there is news, the end or the time is over, and with few reads."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from coatcheck.caller import Caller
from coatcheck.job import Job, Progress, State, row_of
from coatcheck.memory import MemoryStore
from coatcheck.problem import BadRequest, NotFound
from coatcheck.row import Row
from coatcheck.waiting import awaited_job, checked_seconds
from coatcheck.write import Key
from tests.coatcheck.clock import VirtualClock
from tests.coatcheck.rows import JOB_ID, NOW, an_owned_job, seconds, stored

ACME = Caller(tenant="acme", name="key …abcd")
RUNNING = an_owned_job()
DONE = replace(RUNNING, state=State.SUCCEEDED, finished_at=NOW)
FURTHER = replace(RUNNING, progress=Progress(done=1))


@dataclass
class ChangingStore(MemoryStore):
    """A store in which a job changes when its time has come."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    changes: list[tuple[datetime, Job]] = field(default_factory=list)
    read_at: list[datetime] = field(default_factory=list)

    def get(self, key: Key) -> Row | None:
        self.read_at.append(self.clock.now())
        for at, job in self.changes:
            if at <= self.clock.now():
                self.rows[job.key] = row_of(job)
        return super().get(key)


def store_of(job: Job, *changes: tuple[float, Job]) -> ChangingStore:
    return ChangingStore(rows=stored(job).rows, changes=[(NOW + seconds(after), then) for after, then in changes])


def further_than(done: int) -> Callable[[Job], bool]:
    return lambda job: job.progress.done > done


def never(_: Job) -> bool:
    return False


def awaited(store: ChangingStore, news: Callable[[Job], bool] = never, within: float = 20) -> tuple[Job, float]:
    """The job, and after how many seconds."""
    job = awaited_job(store, ACME, JOB_ID, news, store.clock, NOW + seconds(within))
    return job, (store.clock.now() - NOW) / timedelta(seconds=1)


@pytest.mark.parametrize("job", [DONE, replace(DONE, state=State.FAILED), replace(DONE, state=State.CANCELLED)])
def test_a_final_job_is_answered_at_once_and_with_one_read(job: Job) -> None:
    store = store_of(job)
    assert awaited(store) == (job, 0)
    assert len(store.read_at) == 1


def test_news_is_answered_at_once() -> None:
    assert awaited(store_of(FURTHER), further_than(0)) == (FURTHER, 0)


@pytest.mark.parametrize("after", [0.1, 1, 7.3, 19])
def test_a_change_is_answered_within_a_second(after: float) -> None:
    for then, news in ((FURTHER, further_than(0)), (DONE, never)):
        job, held = awaited(store_of(RUNNING, (after, then)), news)
        assert job == then
        assert after <= held <= after + 1


def test_without_a_change_the_answer_comes_when_the_time_is_over_and_not_later() -> None:
    assert awaited(store_of(RUNNING)) == (RUNNING, 20)
    assert awaited(store_of(RUNNING), within=0) == (RUNNING, 0)
    assert awaited(store_of(RUNNING), within=-3) == (RUNNING, 0)


def test_the_last_look_is_taken_when_the_time_is_over() -> None:
    assert awaited(store_of(RUNNING, (20, DONE))) == (DONE, 20)


def test_a_long_wait_costs_about_one_read_a_second_and_the_first_ones_come_soon() -> None:
    store = store_of(RUNNING)
    awaited(store)
    assert len(store.read_at) <= 25
    pauses = [later - earlier for earlier, later in zip(store.read_at, store.read_at[1:], strict=False)]
    assert pauses[0] == seconds(0.25)
    assert pauses[:-1] == sorted(pauses[:-1])
    assert max(pauses) == seconds(1)


def test_nobody_waits_for_another_tenants_job() -> None:
    store = store_of(replace(RUNNING, tenant="globex"))
    with pytest.raises(NotFound):
        awaited(store)
    assert store.clock.now() == NOW


@pytest.mark.parametrize(("text", "wanted"), [(None, 20), ("0", 0), ("7", 7), ("20", 20), ("07", 7)])
def test_a_client_says_how_long_it_waits(text: str | None, wanted: int) -> None:
    assert checked_seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "21", "-1", "1.5", "1e1", "+5", " 5", "5s", "1,2", "\u0665", "100", "NaN"])
def test_any_other_wait_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="0 to 20"):
        checked_seconds(text)
