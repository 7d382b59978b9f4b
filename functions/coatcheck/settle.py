"""Writes of a worker that owns a job. Each is fenced: this attempt, this owner, nothing newer written."""

from datetime import datetime, timedelta

from coatcheck.job import OWNED, Error, Job, Progress, Reason, State, StoredResult, Wrote
from coatcheck.outcome import Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.row import Row
from coatcheck.takeover import ended, exhausted
from coatcheck.time_limit import gives_up_at, spent
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Condition, Update, When, below, is_, one_of, update


def fence(job: Job, seq: int) -> When:
    """Only this attempt of this owner, and no packet that comes after a newer one."""
    return (is_("attempt", job.attempt), is_("owner", job.owner), below("seq", seq))


def beat_write(job: Job, seq: int, progress: Progress, now: datetime, timings: Timings) -> Update:
    """Renew the lease and flush the progress. `due` stays: heartbeats never touch an index."""
    return update(
        job.key,
        (one_of("state", *OWNED), *fence(job, seq)),
        {
            "lease_until": now + timings.lease,
            "progress": progress,
            "seq": seq,
            "updated_at": now,
            "wrote": Wrote.BEAT,
        },
    )


def progress_write(job: Job, seq: int, progress: Progress, now: datetime) -> Update:
    return update(
        job.key,
        (one_of("state", *OWNED), *fence(job, seq)),
        {"progress": progress, "seq": seq, "updated_at": now, "wrote": Wrote.BEAT},
    )


def checkpoint_write(
    job: Job, seq: int, progress: Progress, cursor: str | None, cursor_key: str | None, now: datetime
) -> Update:
    """Save a cursor, in the row or by the name of what holds it. Only the beat renews the lease."""
    return update(
        job.key,
        (one_of("state", *OWNED), *fence(job, seq)),
        {
            "cursor": cursor,
            "cursor_key": cursor_key,
            "progress": progress,
            "seq": seq,
            "updated_at": now,
            "wrote": Wrote.BEAT,
        },
    )


def owned_by(row: Row, job: Job) -> bool:
    """Whether a row is still this attempt's, of this very owner."""
    return row.get("owner") == job.owner and row.get("attempt") == job.attempt


def written_by(row: Row, write: Update) -> bool:
    """The echo of a fenced write: the row is this owner's and bears the write's own number."""
    return row.get("owner") == _owner(write) and row.get("seq") == write.set["seq"]


def settled_by(row: Row, write: Update) -> bool:
    """The echo of a settle, also of an earlier try whose number was lower: the owner's job is in the state it wrote."""
    return row.get("owner") == _owner(write) and row.get("state") == write.set["state"]


def _owner(write: Update) -> object:
    return next((each.value for each in write.when if isinstance(each, Condition) and each.name == "owner"), None)


def settle_write(
    job: Job, seq: int, outcome: Outcome, progress: Progress, now: datetime, timings: Timings, retry_in: timedelta
) -> Update:
    """End the attempt. From `cancelling` only what stands is written; all else requires `running`.

    The owner stays, so that a repeated call finds its own effect. `retry_in` is the wait of a failure that is tried
    again.
    """
    ran = job.ran + (now - (job.claimed_at or now))
    target, changes = _ending(job, outcome, now, timings, retry_in)
    if not target.final and (over := spent(job, ran, now, timings)) is not None:
        target, changes = _failed(job, over, now, timings, retry_in)
    among = OWNED if _stands(outcome) else (State.RUNNING,)
    return update(
        job.key,
        (from_states(target, *among), *fence(job, seq)),
        {"due": now + timings.due_grace}
        | changes
        | {
            "state": target,
            "ran": ran,
            "progress": progress,
            "seq": seq,
            "lease_until": None,
            "updated_at": now,
            "wrote": Wrote.TRANSITION,
        },
    )


def _stands(outcome: Outcome) -> bool:
    """Whether a job that is to be cancelled ends with this outcome all the same: it was finished, or hopeless."""
    match outcome:
        case Succeeded() | Cancelled():
            return True
        case Failed(error=error):
            return not error.retryable
        case Yielded() | Snoozed():
            return False


def _ending(
    job: Job, outcome: Outcome, now: datetime, timings: Timings, retry_in: timedelta
) -> tuple[State, dict[str, object]]:
    match outcome:
        case Succeeded(result=result):
            return State.SUCCEEDED, ended(now, timings) | {"result": _stored(result), "error": None}
        case Cancelled(reason=reason):
            error = Error(type="cancelled", message=reason, retryable=False)
            return State.CANCELLED, ended(now, timings) | {"error": error}
        case Failed(error=error):
            return _failed(job, error, now, timings, retry_in)
        case Yielded(advanced=False):
            stuck = Error(type=Reason.NO_CHECKPOINT, message="the time was over before a checkpoint was saved")
            return _failed(job, stuck, now, timings, retry_in)
        case Yielded():
            return State.QUEUED, {"attempt": job.attempt + 1, "ready_at": now}
        case Snoozed(delay=delay):
            run_at = min(now + min(delay, timings.give_up_after), gives_up_at(job, timings))
            due = min(now + timings.due_grace, run_at)
            return State.QUEUED, {"attempt": job.attempt + 1, "run_at": run_at, "ready_at": run_at, "due": due}


def _failed(
    job: Job, error: Error, now: datetime, timings: Timings, retry_in: timedelta
) -> tuple[State, dict[str, object]]:
    failures = job.failures + 1
    if not error.retryable:
        return State.FAILED, ended(now, timings) | {"failures": failures, "error": error}
    if failures >= job.max_failures:
        return State.FAILED, ended(now, timings) | {"failures": failures, "error": exhausted(failures, error)}
    due = min(now + timings.due_grace, now + retry_in)
    return State.RETRYING, {
        "failures": failures,
        "attempt": job.attempt + 1,
        "retry_at": now + retry_in,
        "error": error,
        "due": due,
    }


def _stored(result: Result) -> StoredResult | None:
    if result.file is None:
        return None if result.rows is None else StoredResult(rows=result.rows)
    file = result.file
    return StoredResult(
        key=file.key, version=file.version, bytes=file.bytes, content_type=file.content_type, rows=result.rows
    )
