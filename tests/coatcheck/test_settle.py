"""How an attempt ends: each outcome, from `running` and from `cancelling`."""

from datetime import timedelta

import pytest

from coatcheck.job import Error, Job, Progress, Reason, State, StoredResult, Wrote
from coatcheck.outcome import Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.output import File
from coatcheck.settle import settle_write
from coatcheck.store import Refused
from tests.coatcheck.rows import NOW, TIMINGS, an_owned_job, job_in, seconds, stored

FILE = File(key="results/acme/j/report.csv.gz", bytes=12, content_type="application/gzip", version="v1")
SUCCESS = Succeeded(result=Result(file=FILE, rows=3))
TRANSIENT = Failed(error=Error(type="Timeout", message="the source did not answer"))
PERMANENT = Failed(error=Error(type="UnknownSeller", message="no such seller", retryable=False))
CANCEL = Cancelled(reason="nothing to do")
SNOOZE = Snoozed(delay=timedelta(minutes=2))
RETRY_IN = seconds(30)


def settled(job: Job, outcome: Outcome, *, progress: Progress | None = None) -> Job:
    store = stored(job)
    store.write(settle_write(job, job.seq + 1, outcome, progress or job.progress, NOW, TIMINGS, RETRY_IN))
    return job_in(store)


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLING])
def test_success_shows_the_result_with_the_final_state(state: State) -> None:
    job = settled(an_owned_job(state=state, error=Error(type="Timeout", message="of an earlier attempt")), SUCCESS)
    assert (job.state, job.finished_at, job.error, job.attempt) == (State.SUCCEEDED, NOW, None, 1)
    assert job.result == StoredResult(key=FILE.key, version="v1", bytes=12, content_type="application/gzip", rows=3)


def test_success_may_leave_rows_without_a_file_or_nothing_at_all() -> None:
    assert settled(an_owned_job(), Succeeded(result=Result(rows=0))).result == StoredResult(rows=0)
    assert settled(an_owned_job(), Succeeded(result=Result())).result is None


def test_a_failure_is_charged_and_waits_under_the_next_number() -> None:
    job = settled(an_owned_job(failures=1, attempt=4), TRANSIENT)
    assert (job.state, job.failures, job.attempt) == (State.RETRYING, 2, 5)
    assert (job.retry_at, job.error) == (NOW + RETRY_IN, TRANSIENT.error)
    assert job.due == job.retry_at


def test_the_failure_that_spends_the_budget_ends_the_job_as_exhausted() -> None:
    states = [settled(an_owned_job(failures=failures), TRANSIENT).state for failures in range(5)]
    assert states == [State.RETRYING] * 4 + [State.FAILED]
    job = settled(an_owned_job(failures=4), TRANSIENT)
    assert job.error is not None
    assert job.error.type == Reason.ATTEMPTS_EXHAUSTED
    assert "5 times" in job.error.message
    assert "the source did not answer" in job.error.message


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLING])
def test_a_permanent_failure_ends_the_job_at_once_with_its_own_error(state: State) -> None:
    job = settled(an_owned_job(state=state), PERMANENT)
    assert (job.state, job.failures, job.error, job.retry_at) == (State.FAILED, 1, PERMANENT.error, None)


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLING])
def test_a_job_may_end_itself_as_cancelled(state: State) -> None:
    job = settled(an_owned_job(state=state), CANCEL)
    assert (job.state, job.failures) == (State.CANCELLED, 0)
    assert job.error == Error(type="cancelled", message="nothing to do", retryable=False)


def test_a_yield_is_not_charged_and_is_owed_at_once_under_the_next_number() -> None:
    job = settled(an_owned_job(failures=2, cursor='{"done":7}'), Yielded(advanced=True))
    assert (job.state, job.failures, job.attempt, job.run_at) == (State.QUEUED, 2, 2, None)
    assert (job.cursor, job.started_at, job.as_of) == ('{"done":7}', NOW - seconds(60), NOW - seconds(90))
    assert job.sent < job.attempt


def test_a_yield_without_a_newer_checkpoint_is_a_failure() -> None:
    job = settled(an_owned_job(failures=2), Yielded(advanced=False))
    assert (job.state, job.failures) == (State.RETRYING, 3)
    assert job.error is not None
    assert job.error.type == Reason.NO_CHECKPOINT
    assert settled(an_owned_job(failures=4), Yielded(advanced=False)).state is State.FAILED


def test_a_snooze_is_not_charged_and_is_owed_when_its_time_has_come() -> None:
    job = settled(an_owned_job(failures=2), SNOOZE)
    assert (job.state, job.failures, job.attempt) == (State.QUEUED, 2, 2)
    assert job.run_at == NOW + timedelta(minutes=2)
    assert job.due == NOW + TIMINGS.due_grace


def test_a_short_wait_is_looked_at_when_it_ends_and_not_later() -> None:
    assert settled(an_owned_job(), Snoozed(delay=seconds(5))).due == NOW + seconds(5)


@pytest.mark.parametrize("outcome", [TRANSIENT, Yielded(advanced=True), Yielded(advanced=False), SNOOZE])
@pytest.mark.parametrize("failures", [0, 4])
def test_a_job_that_is_to_be_cancelled_never_goes_on_and_is_never_exhausted(outcome: Outcome, failures: int) -> None:
    cancelling = an_owned_job(state=State.CANCELLING, failures=failures)
    with pytest.raises(Refused) as refusal:
        settled(cancelling, outcome)
    assert refusal.value.old is not None


@pytest.mark.parametrize("outcome", [SUCCESS, TRANSIENT, PERMANENT, CANCEL, Yielded(advanced=True), SNOOZE])
def test_every_end_adds_the_running_time_gives_the_lease_back_and_leaves_work_to_a_ring(outcome: Outcome) -> None:
    job = settled(an_owned_job(ran=seconds(100)), outcome, progress=Progress(done=7))
    assert (job.ran, job.lease_until, job.wrote) == (seconds(160), None, Wrote.TRANSITION)
    assert job.progress == Progress(done=7)
    assert job.due is not None
    assert job.due <= NOW + TIMINGS.due_grace
    assert not job.freed


@pytest.mark.parametrize(
    "other",
    [
        an_owned_job(attempt=2),
        an_owned_job(owner="owner-2"),
        an_owned_job(seq=9),
        an_owned_job(state=State.SUCCEEDED),
        an_owned_job(state=State.QUEUED, attempt=1),
    ],
    ids=["newer attempt", "other owner", "newer write", "final", "not claimed"],
)
def test_an_end_is_refused_unless_the_row_is_still_this_attempts(other: Job) -> None:
    store = stored(other)
    with pytest.raises(Refused):
        store.write(settle_write(an_owned_job(), 9, SUCCESS, Progress(), NOW, TIMINGS, RETRY_IN))
    assert job_in(store) == other
