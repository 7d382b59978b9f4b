"""Time limits: whatever a handler does, an attempt ends, and so does the job in the end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from coatcheck.claim import Claimed, claim
from coatcheck.document import status_document
from coatcheck.endings import CancelRequested, OverLimit
from coatcheck.job import Error, Job, Progress, Reason, State
from coatcheck.outcome import Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.settle import settle_write
from coatcheck.takeover import take_over
from coatcheck.time_limit import attempts_limit
from tests.coatcheck.attempts import Attempt
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, doorbell, job_in, seconds, stored

MONTH = TIMINGS.give_up_after
OPEN_ENDINGS: list[Outcome] = [
    Failed(error=Error(type="Broken", message="no answer")),
    Yielded(advanced=True),
    Yielded(advanced=False),
    Snoozed(delay=seconds(5)),
]


def settled(job: Job, outcome: Outcome) -> Job:
    store = stored(job)
    store.write(settle_write(job, 1, outcome, Progress(), NOW, TIMINGS, seconds(30)))
    return job_in(store)


def reason(job: Job) -> str | None:
    return None if job.error is None else job.error.type


def test_running_time_counts_over_all_attempts_and_waits_do_not() -> None:
    job = an_owned_job(timeout=seconds(100), ran=seconds(30), created_at=NOW - timedelta(days=2))
    assert attempts_limit(job, TIMINGS).at == NOW - seconds(60) + seconds(70)
    assert attempts_limit(job, TIMINGS).error.type == Reason.TIMED_OUT


def test_no_attempt_goes_on_when_the_job_is_to_be_given_up() -> None:
    job = an_owned_job(timeout=timedelta(days=1), created_at=NOW - MONTH + seconds(5))
    limit = attempts_limit(job, TIMINGS)
    assert (limit.at, limit.error.type) == (NOW + seconds(5), Reason.GAVE_UP)


def test_the_document_says_when_the_running_job_times_out_and_nothing_of_one_that_waits() -> None:
    job = an_owned_job(timeout=seconds(100), ran=seconds(30))
    assert status_document(job, NOW, TIMINGS)["timeout_at"] == "2026-11-10T12:00:10.000Z"
    assert "timeout_at" not in status_document(a_job(), NOW, TIMINGS)


@pytest.mark.parametrize("outcome", OPEN_ENDINGS, ids=lambda outcome: type(outcome).__name__)
def test_a_job_whose_running_time_is_spent_does_not_go_on_in_another_attempt(outcome: Outcome) -> None:
    job = settled(an_owned_job(timeout=seconds(100), ran=seconds(40)), outcome)
    assert (job.state, reason(job), job.failures) == (State.FAILED, Reason.TIMED_OUT, 1)
    assert settled(an_owned_job(timeout=seconds(101), ran=seconds(40)), outcome).state is not State.FAILED


@pytest.mark.parametrize("outcome", OPEN_ENDINGS, ids=lambda outcome: type(outcome).__name__)
def test_a_job_that_is_too_old_does_not_go_on_in_another_attempt(outcome: Outcome) -> None:
    job = settled(an_owned_job(created_at=NOW - MONTH), outcome)
    assert (job.state, reason(job)) == (State.FAILED, Reason.GAVE_UP)


def test_success_counts_however_long_it_took() -> None:
    late = an_owned_job(timeout=seconds(10), ran=seconds(40), created_at=NOW - MONTH)
    assert settled(late, Succeeded(result=Result())).state is State.SUCCEEDED


def test_a_snooze_does_not_reach_beyond_the_end_of_the_jobs_life() -> None:
    job = settled(an_owned_job(created_at=NOW - MONTH + seconds(60)), Snoozed(delay=timedelta(days=3)))
    assert job.run_at == NOW + seconds(60)


def test_a_dead_worker_that_used_up_the_running_time_ends_the_job() -> None:
    dead = an_owned_job(timeout=seconds(50), claimed_at=NOW - seconds(61), lease_until=NOW - seconds(1))
    job = take_over(stored(dead), dead, NOW, TIMINGS)
    assert job is not None
    assert (job.state, reason(job), job.ran) == (State.FAILED, Reason.TIMED_OUT, seconds(60))


def test_a_dead_worker_of_a_job_that_is_to_be_cancelled_is_no_time_out() -> None:
    dead = an_owned_job(state=State.CANCELLING, timeout=seconds(5), lease_until=NOW - seconds(1))
    job = take_over(stored(dead), dead, NOW, TIMINGS)
    assert job is not None
    assert (job.state, job.failures) == (State.CANCELLED, 0)


def test_the_next_claim_has_what_earlier_attempts_left_of_the_time() -> None:
    job = a_job(timeout=seconds(100), ran=seconds(99), attempt=2)
    claimed = claim(stored(job), doorbell(job), "owner-2", NOW, TIMINGS)
    assert isinstance(claimed, Claimed)
    assert attempts_limit(claimed.job, TIMINGS).at == NOW + seconds(1)


def test_a_handler_over_its_time_is_asked_at_its_next_checkpoint() -> None:
    at = Attempt(job=an_owned_job(timeout=seconds(100)))
    at.lease.save("1")
    at.clock.advance(41)
    with pytest.raises(OverLimit) as over:
        at.lease.save("2")
    assert over.value.error.type == Reason.TIMED_OUT
    assert at.row.cursor == "2"  # what it saved counts


def test_progress_and_checkpoints_and_steps_are_signs_of_life() -> None:
    at = Attempt(yields_in=timedelta(hours=2))
    for sign in (
        lambda: at.lease.report(Progress(done=1)),
        lambda: at.lease.report(Progress(done=1)),
        lambda: at.lease.save("1"),
        lambda: at.lease.remember("step", "1"),
    ):
        at.clock.advance(TIMINGS.stall.total_seconds() - 1)
        assert at.lease.ending() is None
        sign()
    at.clock.advance(TIMINGS.stall.total_seconds())
    ending = at.lease.ending()
    assert isinstance(ending, Failed)
    assert (ending.error.type, ending.error.retryable) == (Reason.STALLED, True)
    assert at.lease.stopping()


def test_a_handler_that_was_asked_because_it_hung_ends_at_its_next_checkpoint_although_it_lives_again() -> None:
    at = Attempt()
    at.clock.advance(TIMINGS.stall.total_seconds())
    at.lease.ending()
    with pytest.raises(OverLimit):
        at.lease.save("1")


def test_who_was_asked_to_cancel_and_then_runs_over_its_time_is_still_cancelled() -> None:
    at = Attempt(job=an_owned_job(state=State.CANCELLING, timeout=seconds(100)))
    at.lease.ending()
    at.clock.advance(100)
    with pytest.raises(CancelRequested):
        at.lease.save("1")


def test_a_job_that_hung_to_the_end_of_its_budget_says_so() -> None:
    hung = Failed(error=Error(type=Reason.STALLED, message="no sign of life"))
    assert reason(settled(an_owned_job(failures=4), hung)) == Reason.STALLED
    assert settled(replace(an_owned_job(), failures=3), hung).state is State.RETRYING
