"""Rings: read the row, ask the one rule, and do the one thing that it says."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from coatcheck.context import output_prefix
from coatcheck.doorbell import DeadLetter, Doorbell, Queues
from coatcheck.duty import Duty, discharge, tell
from coatcheck.hold import Holding, park_write, take_back_write
from coatcheck.job import DEAD_LETTERED, OWNED, Job, State, job_key, job_of, readable
from coatcheck.limiter import MOST_SLOTS, Limiting
from coatcheck.next_step import (
    Conclude,
    GiveUp,
    Nothing,
    Park,
    Postpone,
    Requeue,
    Send,
    StandInLine,
    Step,
    StepAside,
    TakeBack,
    TakeOver,
    Tell,
    Wait,
    Waiting,
    next_step,
)
from coatcheck.objects import Objects
from coatcheck.queued import due_write, requeue_write, sent_write
from coatcheck.slots import CALLED_WITHIN, free, holders, note, wait_write
from coatcheck.slots import take as take_slots
from coatcheck.store import Refused, Store
from coatcheck.takeover import take_over
from coatcheck.text import rfc3339
from coatcheck.time_limit import gave_up, gives_up_at
from coatcheck.timings import Timings
from coatcheck.unstarted import unclaimed_write
from coatcheck.write import Update

MOST_LOOKED_AT = 100
"""Of those who wait, in one walk. Of thousands that are cancelled at once the index knows nothing for a while, and one
ring must not read them all."""


@dataclass(frozen=True, kw_only=True)
class Bell:
    """What a ring works with."""

    store: Store
    queues: Queues
    objects: Objects
    timings: Timings
    holding: Holding
    limiting: Limiting


def ring(bell: Bell, job_id: str, now: datetime) -> Step:
    """Give a job what it is owed, at most one transition of it: the stream rings the next.

    Returns the step that was taken. Raises Unavailable; then somebody must ring again.
    """
    row = bell.store.get(job_key(job_id))
    if row is None:
        return Nothing()
    job = job_of(row)
    return take(bell, job, _owed(bell, job, now), now)


def _owed(bell: Bell, job: Job, now: datetime) -> Step:
    queued = job.state is State.QUEUED
    hold = bell.holding(job.kind, job.lane, job.tenant, now, job.waits_since) if queued else None
    return next_step(job, now, bell.timings, hold)


def take(bell: Bell, job: Job, step: Step, now: datetime) -> Step:
    """Carry out a step. Every write is conditional on what the rule saw: two at once are harmless.

    Returns the step that was taken: another than was asked for if no slot is free.
    """
    if _leaves_slots(job, step):
        free_slots(bell, job, now)
    match step:
        case Send() if (limiter := _full(bell, job, now)) is not None:
            return StandInLine(limiter=limiter)
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
        case StandInLine() | StepAside() | Waiting() | Nothing():
            pass
    return step


def _leaves_slots(job: Job, step: Step) -> bool:
    """Whether the job is not in flight any more, or not for now. A yield keeps its slot."""
    match step:
        case Conclude() | Park() | StepAside() | Wait():
            return True
        case Postpone():
            return job.state not in OWNED
    return False


def free_slots(bell: Bell, job: Job, now: datetime) -> None:
    """Free what the job holds no longer, and let whoever waits have it: also if it was free already.

    Whoever freed it may have died before the second.
    """
    freed = {each.name: free(bell.store, each.name, job, now) for each in bell.limiting(job, now)}
    for limiter, slots in freed.items():
        if slots is not None and "waits_at" in slots:
            fill_slots(bell, limiter, holders(slots), now)


def fill_slots(bell: Bell, limiter: str, held: Collection[str], now: datetime) -> int:
    """Send who waits for a limiter, the longest waiting first, until it is full. Returns how many wait, as far as seen.

    Who is paused meanwhile waits for the end of that from now on, so that it says so, and a resume wakes it.
    Somebody who waits and holds a slot was about to be sent when its sender died: it comes before all others.
    A slot that is free by now, though it was not when `held` was read, is filled by whoever freed it.
    """
    waiting = bell.store.waiting(limiter).ids[:MOST_LOOKED_AT]
    cap, taken = MOST_SLOTS, set(held)
    for job_id in sorted(waiting, key=lambda each: each not in held):
        if job_id not in taken and len(taken) >= cap:
            break
        job = readable(bell.store.get(job_key(job_id)))
        if job is None or job.state is not State.QUEUED or job.waiting != limiter:
            continue  # the index lags: it waits no longer. Or nobody here can read it, which is no reason to stop
        cap = next((each.cap for each in bell.limiting(job, now) if each.name == limiter), MOST_SLOTS)
        match _owed(bell, job, now):
            case Send() as step:
                if (done := take(bell, job, step, now)) == StandInLine(limiter=limiter):
                    break
                if done == step:
                    taken.add(job_id)
            case Park(hold=hold) if job_id not in held:
                _try(bell, park_write(job, hold, now, bell.timings))
    return len(waiting)


def _full(bell: Bell, job: Job, now: datetime) -> str | None:
    """The limiter that has no slot for a job; None if the job has all it needs. One that was sent has them."""
    limiters = bell.limiting(job, now)
    if not limiters or job.sent >= job.attempt:
        return None
    newcomer = job.waiting not in {each.name for each in limiters}
    full = take_slots(bell.store, limiters, job, now, bell.timings, newcomer=newcomer)
    if full is not None and job.waiting != full.limiter.name:
        note(bell.store, full, now)
        if not _try(bell, wait_write(full.limiter, job, now, bell.timings)):
            return full.limiter.name  # the job went on
        full = take_slots(bell.store, limiters, job, now, bell.timings, newcomer=newcomer)
        if full is not None:
            note(bell.store, full, now)  # the supervisor may have looked after the slots just before the mark
            if full.just_freed:  # perhaps nobody saw the mark, or whoever is called cannot be sent
                bell.queues.wake(job.id, 2 * CALLED_WITHIN)
    elif full is not None and job.due is not None and job.due <= now:
        _try(bell, due_write(job, min(now + bell.timings.ring_again, gives_up_at(job, bell.timings))))
    return None if full is None else full.limiter.name


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


def _try(bell: Bell, write: Update) -> bool:
    """A refusal means that somebody else was faster, and what they wrote rings again."""
    try:
        bell.store.write(write)
    except Refused:
        return False
    return True
