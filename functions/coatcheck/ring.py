"""Rings: read the row, ask the one rule, and do the one thing that it says."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from coatcheck.context import output_prefix
from coatcheck.doorbell import DeadLetter, Doorbell, Queues
from coatcheck.duty import Duty, discharge, tell
from coatcheck.hold import Holding, park_write, take_back_write
from coatcheck.job import DEAD_LETTERED, UNMARKED, Job, State, Wrote, job_key, job_of
from coatcheck.next_step import (
    Conclude,
    GiveUp,
    Nothing,
    Park,
    Postpone,
    Requeue,
    Send,
    Step,
    TakeBack,
    TakeOver,
    Tell,
    Wait,
    Waiting,
    next_step,
)
from coatcheck.objects import Objects
from coatcheck.store import Refused, Store
from coatcheck.takeover import take_over
from coatcheck.text import rfc3339
from coatcheck.time_limit import gave_up, gives_up_at
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.unstarted import unclaimed_write
from coatcheck.write import Update, as_seen, is_, update

MOST_DOUBLINGS = 10


@dataclass(frozen=True, kw_only=True)
class Bell:
    """What a ring works with."""

    store: Store
    queues: Queues
    objects: Objects
    timings: Timings
    holding: Holding


def ring(bell: Bell, job_id: str, now: datetime) -> Step:
    """Give a job what it is owed, at most one transition of it: the stream rings the next.

    Returns the step that was taken. Raises Unavailable; then somebody must ring again.
    """
    row = bell.store.get(job_key(job_id))
    if row is None:
        return Nothing()
    job = job_of(row)
    step = _owed(bell, job, now)
    take(bell, job, step, now)
    return step


def _owed(bell: Bell, job: Job, now: datetime) -> Step:
    queued = job.state is State.QUEUED
    hold = bell.holding(job.kind, job.lane, job.tenant, now, job.waits_since) if queued else None
    return next_step(job, now, bell.timings, hold)


def take(bell: Bell, job: Job, step: Step, now: datetime) -> None:
    """Carry out a step. Every write is conditional on what the rule saw: two at once are harmless."""
    match step:
        case Send():
            _send(bell, job, now)
        case Wait(until=until):
            bell.queues.wake(job.id, until - now)
            _try(bell, due_write(job, until + bell.timings.due_grace))
        case Park() | TakeBack() | Postpone() | Requeue() | GiveUp():
            _try(bell, _write(job, step, now, bell.timings))
        case TakeOver():
            take_over(bell.store, job, now, bell.timings)
        case Conclude():
            _conclude(bell, job)
        case Tell():
            tell(bell.store, job)
        case Waiting() | Nothing():
            pass


def _write(job: Job, step: Park | TakeBack | Postpone | Requeue | GiveUp, now: datetime, timings: Timings) -> Update:
    match step:
        case Park(hold=hold):
            return park_write(job, hold, now, timings)
        case TakeBack(hold=hold):
            return take_back_write(doorbell_of(job), hold, now, timings)
        case Postpone(due=due):
            return due_write(job, due)
        case Requeue():
            return requeue_write(job, now, timings)
        case GiveUp():
            return unclaimed_write(job.key, job.attempt, gave_up(timings), now, timings)


def _send(bell: Bell, job: Job, now: datetime) -> None:
    """Send, then mark. A refused mark means that the row went on: ask once more what it is owed now."""
    bell.queues.ring(job.lane, doorbell_of(job))
    try:
        bell.store.write(sent_write(job, now, bell.timings))
    except Refused as refusal:
        if refusal.old is None:
            return
        changed = job_of(refusal.old)
        step = _owed(bell, changed, now)
        if not isinstance(step, Send):
            take(bell, changed, step, now)


def doorbell_of(job: Job) -> Doorbell:
    return Doorbell(job_id=job.id, tenant=job.tenant, kind=job.kind, attempt=job.attempt)


def _conclude(bell: Bell, job: Job) -> None:
    if job.state is State.FAILED and job.error is not None and job.error.type in DEAD_LETTERED:
        bell.queues.dead_letter(
            DeadLetter(
                job_id=job.id,
                tenant=job.tenant,
                kind=job.kind,
                attempt=job.attempt,
                failures=job.failures,
                error_type=job.error.type,
                error_message=job.error.message,
                failed_at=rfc3339(job.finished_at or job.updated_at),
            )
        )
    if job.state is State.CANCELLED and job.started_at is not None and job.finished_at is not None:
        # The bucket's clock may be ahead of the worker's. What a redrive writes under the same prefix comes later.
        end = job.finished_at + bell.timings.clocks_apart
        bell.objects.remove(output_prefix(job.tenant, job.root), before=end)
    discharge(bell.store, job, Duty.FREED)


def sent_write(job: Job, now: datetime, timings: Timings) -> Update:
    """The doorbell of the number that is owed was rung; the same number again, ever more seldom, if nobody comes."""
    rings = job.rings + 1 if job.sent == job.attempt else 1
    again: timedelta = timings.ring_again * 2 ** min(rings - 1, MOST_DOUBLINGS)
    return update(
        job.key,
        (is_("state", State.QUEUED), is_("attempt", job.attempt), is_("sent", job.sent), is_("rings", job.rings)),
        {
            "sent": job.attempt,
            "rings": rings,
            "due": min(now + again, gives_up_at(job, timings)),
            "wrote": Wrote.MARK,
        }
        | UNMARKED,
    )


def requeue_write(job: Job, now: datetime, timings: Timings) -> Update:
    return update(
        job.key,
        (from_states(State.QUEUED, State.RETRYING), is_("attempt", job.attempt)),
        {
            "state": State.QUEUED,
            "retry_at": None,
            "ready_at": now,
            "due": now + timings.due_grace,
            "updated_at": now,
            "wrote": Wrote.TRANSITION,
        },
    )


def due_write(job: Job, due: datetime) -> Update:
    return update(
        job.key,
        (is_("state", job.state), is_("attempt", job.attempt), as_seen("due", job.due)),
        {"due": due, "wrote": Wrote.MARK},
    )


def _try(bell: Bell, write: Update) -> None:
    """A refusal means that somebody else was faster, and what they wrote rings again."""
    try:
        bell.store.write(write)
    except Refused:
        return
