"""Doorbells that no worker ever claimed: the lane's redrive policy gave them up, so the job is settled."""

from datetime import datetime

from coatcheck.doorbell import Doorbell
from coatcheck.job import Error, Job, Reason, State, Wrote, job_key, job_of
from coatcheck.store import Refused, Store
from coatcheck.takeover import ended
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import is_, update


def settle_unstarted(store: Store, doorbell: Doorbell, now: datetime, timings: Timings) -> Job | None:
    """Fail a job whose workers died before they could claim it. None if the doorbell is stale."""
    error = Error(type=Reason.NEVER_STARTED, message="no worker could start this job, however often its doorbell rang")
    write = update(
        job_key(doorbell.job_id),
        (from_states(State.FAILED, State.QUEUED), is_("attempt", doorbell.attempt)),
        ended(now, timings)
        | {
            "state": State.FAILED,
            "error": error,
            "due": now + timings.due_grace,
            "updated_at": now,
            "wrote": Wrote.TRANSITION,
        },
    )
    try:
        return job_of(store.write(write))
    except Refused:
        return None
