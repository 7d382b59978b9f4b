"""Take-over: the job of a worker that died is charged and goes on, in one conditional write."""

from datetime import datetime, timedelta

from coatcheck.job import MOST_MESSAGE_BYTES, OWNED, UNMARKED, Error, Job, Reason, State, Wrote, job_of
from coatcheck.store import Refused, Store
from coatcheck.text import cut
from coatcheck.time_limit import spent
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Update, below, is_, update


def expired(job: Job, now: datetime) -> bool:
    """Whether somebody owns the job whose lease is over."""
    return job.state in OWNED and job.lease_until is not None and job.lease_until < now


def take_over(store: Store, job: Job, now: datetime, timings: Timings) -> Job | None:
    """Take a job from its dead worker. None if it was not to be taken: it lives, or somebody was faster."""
    try:
        return job_of(store.write(take_over_write(job, now, timings)))
    except Refused:
        return None


def take_over_write(job: Job, now: datetime, timings: Timings) -> Update:
    lease_until = job.lease_until or now
    ran = job.ran + (lease_until - (job.claimed_at or lease_until))
    target, changes = _target(job, ran, now, timings)
    return update(
        job.key,
        (
            from_states(target, job.state),
            is_("attempt", job.attempt),
            below("lease_until", now),
        ),
        changes
        | {
            "state": target,
            "ran": ran,
            "owner": None,
            "lease_until": None,
            "updated_at": now,
            "due": now + timings.due_grace,
            "wrote": Wrote.TRANSITION,
        },
    )


def _target(job: Job, ran: timedelta, now: datetime, timings: Timings) -> tuple[State, dict[str, object]]:
    if job.state is State.CANCELLING:
        return State.CANCELLED, ended(now, timings)
    failures = job.failures + 1
    died = Error(type=Reason.WORKER_DIED, message=f"the worker of attempt {job.attempt} died")
    if (over := spent(job, ran, now, timings)) is not None:
        return State.FAILED, ended(now, timings) | {"failures": failures, "error": over}
    if failures >= job.max_failures:
        return State.FAILED, ended(now, timings) | {"failures": failures, "error": exhausted(failures, died)}
    return State.QUEUED, {
        "failures": failures,
        "attempt": job.attempt + 1,
        "error": died,
        "ready_at": now,
    }


def ended(now: datetime, timings: Timings) -> dict[str, object]:
    """What every write into a final state sets."""
    return {
        "finished_at": now,
        "retry_at": None,
        "run_at": None,
        "ttl": round((now + timings.keep_row).timestamp()),
    } | UNMARKED


def exhausted(failures: int, last: Error) -> Error:
    """The error of a job whose budget is spent. One that hung to the end says so: it needs another remedy."""
    reason = Reason.STALLED if last.type == Reason.STALLED else Reason.ATTEMPTS_EXHAUSTED
    message = f"failed {failures} times, at last with {last.type}: {last.message}"
    return Error(type=reason, message=cut(message, MOST_MESSAGE_BYTES))
