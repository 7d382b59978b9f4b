"""Claims: one conditional write makes a queued job an attempt's own, or says why not."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from coatcheck.doorbell import Doorbell
from coatcheck.job import OWNED, UNMARKED, Job, State, Wrote, job_key, job_of
from coatcheck.store import Refused, Store, Unavailable, write_or_find
from coatcheck.takeover import expired, take_over
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Update, is_, update


@dataclass(frozen=True, kw_only=True)
class Claimed:
    job: Job


@dataclass(frozen=True, kw_only=True)
class NotClaimed:
    """The doorbell is stale, or its owner died and the job was taken over: either way it has done its work."""

    old: Job | None


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """The service did not answer: the doorbell is given back, uncharged."""


Claim: TypeAlias = Claimed | NotClaimed | Undecided


def claim(store: Store, doorbell: Doorbell, owner: str, now: datetime, timings: Timings) -> Claim:
    """Claim the attempt that a doorbell names. A dead owner's job is taken over on the way."""
    try:
        row = write_or_find(
            store, claim_write(doorbell, owner, now, timings), mine=lambda old: old.get("owner") == owner
        )
    except Refused as refusal:
        return _refused(store, doorbell, refusal, now, timings)
    except Unavailable:
        return _read_back(store, doorbell, owner)
    return Claimed(job=job_of(row))


def claim_write(doorbell: Doorbell, owner: str, now: datetime, timings: Timings) -> Update:
    lease_until = now + timings.lease
    return update(
        job_key(doorbell.job_id),
        (from_states(State.RUNNING), is_("attempt", doorbell.attempt), is_("tenant", doorbell.tenant)),
        {
            "state": State.RUNNING,
            "owner": owner,
            "lease_until": lease_until,
            "claimed_at": now,
            "updated_at": now,
            "due": lease_until + timings.lease_grace,
            "sent": doorbell.attempt,
            "seq": 0,
            "run_at": None,
            "wrote": Wrote.TRANSITION,
        }
        | UNMARKED,
        set_if_absent={"started_at": now, "as_of": now - timings.source_lag},
    )


def _refused(
    store: Store, doorbell: Doorbell, refusal: Refused, now: datetime, timings: Timings
) -> NotClaimed | Undecided:
    old = job_of(refusal.old) if refusal.old else None
    if old is not None and old.attempt == doorbell.attempt and expired(old, now):
        try:
            take_over(store, old, now, timings)
        except Unavailable:
            return Undecided()
    return NotClaimed(old=old)


def _read_back(store: Store, doorbell: Doorbell, owner: str) -> Claim:
    """Whether the claim took effect, although its answer was lost."""
    try:
        row = store.get(job_key(doorbell.job_id))
    except Unavailable:
        return Undecided()
    if row is None:
        return NotClaimed(old=None)
    job = job_of(row)
    if job.owner == owner and job.state in OWNED:
        return Claimed(job=job)
    waits = job.state is State.QUEUED and job.attempt == doorbell.attempt
    return Undecided() if waits else NotClaimed(old=job)
