"""Jobs that no worker ever claimed: their doorbells rang too often, or they waited too long, so they are settled."""

from datetime import datetime

from coatcheck.doorbell import Doorbell
from coatcheck.job import Error, Job, Reason, State, Wrote, job_key, job_of
from coatcheck.store import Refused, Store
from coatcheck.takeover import ended
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Key, Update, is_, update

NEVER_STARTED = Error(
    type=Reason.NEVER_STARTED, message="no worker could start this job, however often its doorbell rang"
)


def settle_unstarted(store: Store, doorbell: Doorbell, now: datetime, timings: Timings) -> Job | None:
    """Fail a job whose workers died before they could claim it. None if the doorbell is stale."""
    try:
        return job_of(
            store.write(unclaimed_write(job_key(doorbell.job_id), doorbell.attempt, NEVER_STARTED, now, timings))
        )
    except Refused:
        return None


def unclaimed_write(key: Key, attempt: int, error: Error, now: datetime, timings: Timings) -> Update:
    """Fail a job that is still queued for this attempt."""
    return update(
        key,
        (from_states(State.FAILED, State.QUEUED), is_("attempt", attempt)),
        ended(now, timings)
        | {
            "state": State.FAILED,
            "error": error,
            "due": now + timings.due_grace,
            "updated_at": now,
            "wrote": Wrote.TRANSITION,
        },
    )
