"""The table of transitions, against what the writes of the product really do."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from coatcheck.caller import Caller
from coatcheck.cancellation import cancel
from coatcheck.claim import Claimed, claim
from coatcheck.job import DUE_SHARDS, DUE_SHOWS, Error, Job, Progress, State, Wrote, due_shard, row_of
from coatcheck.memory import MemoryStore
from coatcheck.outcome import Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.problem import Conflict
from coatcheck.ring import ring
from coatcheck.settle import beat_write, checkpoint_write, progress_write, settle_write
from coatcheck.store import Refused, Store
from coatcheck.transition import TRANSITIONS, from_states
from coatcheck.unstarted import settle_unstarted
from tests.coatcheck.rows import NOW, TIMINGS, a_bell, a_job, an_owned_job, doorbell, job_in, seconds, stored

OUTCOMES: tuple[Outcome, ...] = (
    Succeeded(result=Result(rows=1)),
    Failed(error=Error(type="Timeout", message="no answer")),
    Failed(error=Error(type="Permanent", message="no such seller", retryable=False)),
    Cancelled(reason="nothing to do"),
    Yielded(advanced=True),
    Yielded(advanced=False),
    Snoozed(delay=timedelta(minutes=1)),
)


def job_in_state(state: State, *, lease_left: float = 60, failures: int = 0) -> Job:
    """A job that every write of the product could be after: due, rung, and where it is owned, by owner-1."""
    if state in (State.RUNNING, State.CANCELLING):
        return an_owned_job(state=state, failures=failures, lease_until=NOW + seconds(lease_left))
    retry_at = NOW - seconds(1) if state is State.RETRYING else None
    finished_at = NOW if state.final else None
    return a_job(state=state, failures=failures, owner="owner-1", retry_at=retry_at, finished_at=finished_at)


def writes(store: MemoryStore, job: Job) -> Iterator[Job]:
    """Let every part of the product at the same job, one by one, and yield what it makes of it."""

    def became() -> Job:
        after = job_in(store)
        store.rows[job.key] = row_of(job)
        return after

    claim(store, doorbell(job), "owner-2", NOW, TIMINGS)
    yield became()
    for outcome in OUTCOMES:
        try_write(store, job, outcome)
        yield became()
    ring(a_bell(store), job.id, NOW)
    yield became()
    settle_unstarted(store, doorbell(job), NOW, TIMINGS)
    yield became()
    try:
        cancel(store, Caller(tenant=job.tenant, name="me"), job.id, NOW, TIMINGS)
    except Conflict:
        assert job.state in (State.SUCCEEDED, State.FAILED)
    yield became()


def try_write(store: Store, job: Job, outcome: Outcome) -> None:
    try:
        store.write(settle_write(job, job.seq + 1, outcome, job.progress, NOW, TIMINGS, seconds(30)))
    except Refused:
        return


def test_the_table_of_transitions_is_exactly_what_the_writes_do() -> None:
    seen: dict[State, set[State]] = {state: set() for state in State}
    for state in State:
        for lease_left in (60, -1):
            for failures in (0, 4):
                job = job_in_state(state, lease_left=lease_left, failures=failures)
                seen[state] |= {after.state for after in writes(stored(job), job)} - {state}
    assert seen == {state: set(targets) for state, targets in TRANSITIONS.items()}


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.CANCELLED])
def test_a_final_state_never_changes_whoever_writes(state: State) -> None:
    job = job_in_state(state)
    assert {after.state for after in writes(stored(job), job)} == {state}
    assert TRANSITIONS[state] == frozenset()


def test_a_write_cannot_be_built_for_a_transition_that_the_table_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"no job moves from .*succeeded.* to running"):
        from_states(State.RUNNING, State.SUCCEEDED)


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLING])
def test_whoever_ends_an_attempt_stamps_the_write_as_a_transition_so_that_the_stream_rings(state: State) -> None:
    job = job_in_state(state)
    store = stored(job)
    try_write(store, job, Succeeded(result=Result()))
    assert job_in(store).wrote is Wrote.TRANSITION


def changes() -> Iterator[tuple[Job, Job]]:
    """A job before and after everything that the product does to jobs in all states; it could have run long ago."""
    for state in State:
        for lease_left in (60, -1):
            job = job_in_state(state, lease_left=lease_left)
            before = replace(job, ready_at=NOW - timedelta(hours=1), due=NOW + seconds(7))
            for after in writes(stored(before), before):
                yield before, after


def test_whoever_makes_a_job_queued_says_from_when_it_could_run_and_nobody_else_does() -> None:
    ways = set()
    for before, after in changes():
        if after.state is State.QUEUED and before.state is not State.QUEUED:
            ways.add((before.state, after.run_at))
            assert after.ready_at == (after.run_at or NOW)
        else:
            assert after.ready_at == before.ready_at
    assert ways == {(State.RETRYING, None), (State.RUNNING, None), (State.RUNNING, NOW + timedelta(minutes=1))}


def test_what_the_due_index_shows_changes_with_due_alone_save_when_what_runs_is_cancelled() -> None:
    alone = set()
    for before, after in changes():
        changed = any(getattr(before, name) != getattr(after, name) for name in DUE_SHOWS)
        if changed and before.due == after.due:
            alone.add((before.state, after.state))
    assert alone == {(State.RUNNING, State.CANCELLING)}


def test_no_beat_and_no_checkpoint_touches_an_index() -> None:
    job, progress = an_owned_job(), Progress(done=1)
    for write in (
        beat_write(job, 1, progress, NOW, TIMINGS),
        progress_write(job, 1, progress, NOW),
        checkpoint_write(job, 1, progress, "1", None, NOW),
    ):
        assert not {*write.set, *write.remove} & {*DUE_SHOWS, "due", "due_shard", "waits_since", "tenant"}


def test_jobs_spread_over_all_shards_of_the_due_index() -> None:
    assert {due_shard(f"j_{number}") for number in range(200)} == {f"due#{shard}" for shard in range(DUE_SHARDS)}


def test_whatever_takes_a_job_from_its_worker_raises_the_number_so_that_the_old_doorbell_starts_nothing() -> None:
    left = set()
    for before, after in changes():
        if before.state is State.RUNNING and after.state in (State.QUEUED, State.RETRYING):
            left.add(after.state)
            assert after.attempt == before.attempt + 1
            assert not isinstance(claim(stored(after), doorbell(before), "owner-3", NOW, TIMINGS), Claimed)
    assert left == {State.QUEUED, State.RETRYING}
