"""Redrive: one new job for an old one, which goes on where that stopped, or says that it starts at zero."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

import pytest

from coatcheck.idempotency import args_of
from coatcheck.job import Error, Job, Progress, State, row_of
from coatcheck.memory import MemoryStore
from coatcheck.problem import Conflict, Gone
from coatcheck.redrive import redrive
from coatcheck.store import Store
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, job_in, seconds, stored
from tests.coatcheck.submits import asked, at_once, jobs_in, move, numbered

pytestmark = pytest.mark.usefixtures("kinds")


def failed(**changes: Any) -> Job:
    """A job that failed after some work."""
    given: dict[str, Any] = {
        "state": State.FAILED,
        "attempt": 5,
        "failures": 5,
        "started_at": NOW - timedelta(hours=1),
        "finished_at": NOW - seconds(60),
        "as_of": NOW - timedelta(hours=1, seconds=30),
        "ran": seconds(900),
        "cursor": '{"done":7}',
        "progress": Progress(done=7, total=10),
        "error": Error(type="attempts_exhausted", message="failed 5 times"),
        "labels": {"team": "tax"},
        "freed": True,
    }
    return a_job(**(given | changes))


def redriven(store: Store, old: Job, now: datetime = NOW) -> Job:
    return redrive(store, old, "key …wxyz", TIMINGS, numbered, now)


def test_the_new_job_has_a_whole_budget_and_goes_on_from_the_checkpoint_in_the_old_ones_output() -> None:
    store, old = stored(failed()), failed()
    job = redriven(store, old)
    assert job_in(store, job.id) == job
    assert (job.state, job.attempt, job.failures, job.ran) == (State.QUEUED, 1, 0, timedelta(0))
    assert (job.cursor, job.as_of, job.progress) == (old.cursor, old.as_of, old.progress)
    assert (job.root, job.retry_of, job.labels, job.args) == (old.root, old.id, old.labels, old.args)
    assert (job.requested_by, job.error, job.due) == ("key …wxyz", None, NOW + TIMINGS.due_grace)


def test_the_old_job_names_the_new_one_and_stays_as_it_ended() -> None:
    store = stored(failed())
    job = redriven(store, failed())
    assert job_in(store) == replace(failed(), retried_as=job.id, wrote=job_in(store).wrote)


@pytest.mark.parametrize(
    "old", [failed(state=State.CANCELLED), failed(finished_at=NOW - TIMINGS.keep_result)], ids=["cancelled", "old"]
)
def test_a_job_whose_output_is_gone_starts_at_zero(old: Job) -> None:
    job = redriven(stored(old), old)
    assert (job.cursor, job.cursor_key, job.as_of, job.progress, job.root) == (None, None, None, Progress(), old.root)


def test_however_often_it_is_asked_it_is_the_same_new_job() -> None:
    store = stored(failed())
    first = redriven(store, failed())
    again = redriven(store, job_in(store))
    stale = redriven(store, failed())  # with what it read before the first
    assert {first.id, again.id, stale.id} == {first.id}
    assert len(jobs_in(store)) == 2


def test_twenty_at_once_make_one_new_job() -> None:
    store = stored(failed())
    jobs = at_once(20, lambda _: redriven(store, failed()))
    assert {job.id for job in jobs} == {job_in(store).retried_as}
    assert len(jobs_in(store)) == 2


def test_a_redrive_whose_answer_was_lost_finds_the_job_that_it_made() -> None:
    store = stored(failed())
    job = redriven(RepeatingStore(under=store), failed())
    assert job_in(store).retried_as == job.id
    assert len(jobs_in(store)) == 2


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.RETRYING, State.CANCELLING, State.SUCCEEDED])
def test_only_a_job_that_failed_or_was_cancelled_is_tried_again(state: State) -> None:
    store = stored(a_job(state=state))
    with pytest.raises(Conflict, match=state):
        redriven(store, a_job(state=state))
    assert len(jobs_in(store)) == 1


def test_large_args_are_inherited_too() -> None:
    store = MemoryStore()
    old = asked(store, {"text": "x" * 2000}, kind="script").job
    move(store, old, State.FAILED)
    job = redriven(store, job_in(store, old.id))
    assert args_of(store, job_in(store, job.id)) == old.args
    assert "args" not in row_of(job_in(store, job.id))


def test_a_job_whose_args_are_gone_cannot_be_tried_again() -> None:
    old = failed(args=None)
    with pytest.raises(Gone):
        redriven(stored(old), old)


def test_a_kind_that_this_version_lacks_is_a_conflict_and_nothing_is_written() -> None:
    old = failed(kind="of-yesterday")
    store = stored(old)
    with pytest.raises(Conflict, match="of-yesterday"):
        redriven(store, old)
    assert job_in(store) == old


class TestNaturalKey:
    """gst-export: one open job per seller and period."""

    args: ClassVar = {"seller_id": "48811", "period": "2026-10"}

    def first(self, store: MemoryStore) -> Job:
        old = asked(store, self.args, kind="gst-export").job
        move(store, old, State.FAILED)
        return job_in(store, old.id)

    def test_the_new_job_takes_it_over(self) -> None:
        store = MemoryStore()
        job = redriven(store, self.first(store))
        assert asked(store, self.args, kind="gst-export").job.id == job.id

    def test_another_open_job_that_holds_it_is_named(self) -> None:
        store = MemoryStore()
        old = self.first(store)
        other = asked(store, self.args, kind="gst-export").job
        with pytest.raises(Conflict, match=other.id):
            redriven(store, old)
        assert job_in(store, old.id).retried_as is None

    def test_it_is_taken_from_a_later_job_that_has_ended(self) -> None:
        store = MemoryStore()
        old = self.first(store)
        move(store, asked(store, self.args, kind="gst-export").job, State.SUCCEEDED)
        job = redriven(store, old)
        assert job_in(store, old.id).retried_as == job.id


def test_an_unavailable_store_leaves_nothing_half_done() -> None:
    store = stored(failed())
    with pytest.raises(Exception, match="unavailable"):
        redriven(FailingStore(under=store, before=1), failed())
    assert len(jobs_in(store)) == 1
