"""Cancellation: DELETE moves a job by one conditional write, or finds that it cannot."""

from datetime import datetime

from coatcheck.caller import Caller
from coatcheck.job import Job, State, Wrote, job_key, job_of
from coatcheck.job_id import is_job_id
from coatcheck.problem import Busy, Conflict, NotFound
from coatcheck.store import Refused, Store
from coatcheck.takeover import ended
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Update, is_, update

MOST_TRIES = 5


def cancel(store: Store, caller: Caller, job_id: str, now: datetime, timings: Timings) -> Job:
    """Cancel a job that waits, or ask its worker to stop. Raises NotFound, Conflict, Busy, Unavailable."""
    for _ in range(MOST_TRIES):
        job = owned_job(store, caller, job_id, now)
        if job.state in (State.CANCELLED, State.CANCELLING):
            return job
        if job.state.final:
            raise Conflict(f"the job has {job.state} and stays so")
        try:
            return job_of(store.write(cancel_write(job, caller, now, timings)))
        except Refused:
            continue
    raise Busy("the job changes faster than it can be cancelled: try again", headers={"Retry-After": "1"})


def owned_job(store: Store, caller: Caller, job_id: str, now: datetime) -> Job:
    """The caller's own job; another tenant's is as unknown as one that never was. Raises NotFound."""
    row = store.get(job_key(job_id)) if is_job_id(job_id) else None
    if row is None or row["tenant"] != caller.tenant or (job := job_of(row)).gone(now):
        raise NotFound("there is no job of yours with this id")
    return job


def cancel_write(job: Job, caller: Caller, now: datetime, timings: Timings) -> Update:
    """Conditional on the state and attempt that were seen, so that what the API answers is what happened."""
    target = State.CANCELLING if job.state is State.RUNNING else State.CANCELLED
    end = ended(now, timings) | {"due": now + timings.due_grace} if target is State.CANCELLED else {}
    return update(
        job.key,
        (from_states(target, job.state), is_("attempt", job.attempt)),
        end | {"state": target, "cancelled_by": caller.name, "updated_at": now, "wrote": Wrote.TRANSITION},
    )
