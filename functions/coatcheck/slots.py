"""Slots: which jobs are in flight under a limiter. An item of job ids and attempt numbers that cannot drift.

To take is to be in it with a number; to free is to remove what is older than the row. Both may be repeated, come late
and come out of order: a newer number is never removed by an older row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from coatcheck.job import Job, State, Wrote, due_shard, job_key
from coatcheck.limiter import PAUSE_MARK, Limiter
from coatcheck.queued import mark_write
from coatcheck.row import Row, moment
from coatcheck.store import Refused, Store, TransactionRefused
from coatcheck.timings import Timings
from coatcheck.write import (
    Key,
    Put,
    Table,
    Update,
    Write,
    above,
    absent,
    any_of,
    as_seen,
    at_most,
    below,
    fewer,
    is_,
    put,
    update,
)

PREFIX = "slots#"
ITEM = "slots"
MOST_TRIES = 5
LOOK_AGAIN = timedelta(seconds=5)
"""Whoever finds no slot may be overlooked by whoever frees one just then, as the index lags: somebody looks again."""

CALLED_WITHIN = timedelta(seconds=2)
"""Whoever frees a slot calls those who wait within milliseconds, if it does not die and they can be sent."""

NOTED = timedelta(seconds=30)
"""Much shorter than the time after which the supervisor forgets that somebody waits."""


@dataclass(frozen=True, kw_only=True)
class Full:
    """No slot of this limiter is free, or one has only just got free for somebody who waits."""

    limiter: Limiter
    slots: Row | None
    """As they were then; None if that is not known."""

    @property
    def held(self) -> dict[str, int]:
        return {} if self.slots is None else holders(self.slots)

    @property
    def just_freed(self) -> bool:
        return self.slots is not None and len(self.held) < self.limiter.cap


def slots_key(limiter: str) -> Key:
    """Beside the jobs: no id of a job begins like this, and the stream's filters pass over it."""
    return Key(table=Table.JOBS, id=f"{PREFIX}{limiter}", item=ITEM)


def limiter_named(slots_id: str) -> str | None:
    """The limiter whose slots have this id in the index of what is due; None if it is a job's."""
    return slots_id.removeprefix(PREFIX) if slots_id.startswith(PREFIX) else None


def due_key(due_id: str) -> Key:
    """The item that has this id in the index of what is due: a job's row, or the slots of a limiter."""
    limiter = limiter_named(due_id)
    return job_key(due_id) if limiter is None else slots_key(limiter)


def holders(row: Row) -> dict[str, int]:
    """Who holds a slot, and for which attempt."""
    return msgspec.convert(row["held"], dict[str, int])


def take(
    store: Store, limiters: Sequence[Limiter], job: Job, now: datetime, timings: Timings, *, newcomer: bool
) -> Full | None:
    """Take a slot of every limiter, or of none; to hold them already for this number or an older one is to take them.

    A newcomer leaves the only one that is free, and has just got so, to those who wait: whoever freed it calls them.
    Returns the first limiter that is full, if one is. Raises Unavailable.
    """
    polite = frozenset(each.name for each in limiters) if newcomer else frozenset()
    while True:
        full = _take(store, limiters, job, now, timings, polite)
        if full is None or full.limiter.name not in polite or not full.just_freed or _others_wait(store, full, job):
            return full
        polite -= {full.limiter.name}


def _others_wait(store: Store, full: Full, job: Job) -> bool:
    """It is forgotten late that somebody waits; the index knows it sooner."""
    return any(each != job.id and each not in full.held for each in store.waiting(full.limiter.name).ids)


def _take(
    store: Store, limiters: Sequence[Limiter], job: Job, now: datetime, timings: Timings, polite: frozenset[str]
) -> Full | None:
    for _ in range(MOST_TRIES):
        writes = [take_write(each, job, now, timings, polite=each.name in polite) for each in limiters]
        refused = _refusals(store, writes)
        full = [Full(limiter=limiters[place], slots=old) for place, old in refused.items() if old is not None]
        if not refused or full:
            return full[0] if full else None
        for place in refused:
            _open(store, limiters[place], now, timings)
    return Full(limiter=limiters[0], slots=None)  # somebody removes the item again and again: wait like everybody


def take_write(limiter: Limiter, job: Job, now: datetime, timings: Timings, *, polite: bool) -> Update:
    entry = f"held.{job.id}"
    mine = at_most(entry, job.attempt)
    free = (any_of(absent(entry), mine), any_of(fewer("held", limiter.cap), mine))
    nobodys = any_of(
        absent("waits_at"),
        absent("freed_at"),
        below("freed_at", now - CALLED_WITHIN),
        fewer("held", limiter.cap - 1),  # of several that are free, those who wait would have had some
        mine,
    )
    return update(
        slots_key(limiter.name),
        (*free, nobodys) if polite else free,
        {entry: job.attempt, "ttl": _ttl(now, timings)},
        set_if_absent={"due": now + timings.due_grace},
    )


def free(store: Store, limiter: str, job: Job, now: datetime) -> Row | None:
    """Give back what the job holds under an older number than its row's, or under any if it is final.

    Returns the slots as they are then, whether or not there was anything to free. Raises Unavailable.
    """
    entry = f"held.{job.id}"
    end = job.attempt + 1 if job.state.final else job.attempt
    try:
        return store.write(update(slots_key(limiter), (below(entry, end),), {entry: None, "freed_at": now}))
    except Refused as refusal:
        return refusal.old


def free_entry(store: Store, limiter: str, job_id: str, attempt: int, now: datetime) -> None:
    """Give back one entry as it was seen. Raises Unavailable."""
    entry = f"held.{job_id}"
    _try(store, update(slots_key(limiter), (is_(entry, attempt),), {entry: None, "freed_at": now}))


def holds(job: Job, attempt: int, now: datetime) -> bool:
    """Whether a job has a right to the slot that it holds for this attempt.

    Always to that of the number that its row owes: somebody may be sending it this very moment, for whom it is due or
    resumed already. An older number is that of a yield, or of an attempt that is over.
    """
    if job.state.final or job.state is State.RETRYING:
        return False
    if job.attempt == attempt:
        return True
    return job.state is State.QUEUED and not paused(job) and (job.run_at is None or job.run_at <= now)


def paused(job: Job) -> bool:
    """Whether it is marked by a pause."""
    return job.waiting is not None and job.waiting.startswith(PAUSE_MARK)


def note(store: Store, full: Full, now: datetime) -> None:
    """While a job is marked as waiting its limiter's slots must say that somebody waits, and be looked after soon.

    If they say so already, they need not be told by each of thousands who wait. Raises Unavailable.
    """
    key, soon, seen = slots_key(full.limiter.name), now + LOOK_AGAIN, full.slots or {}
    waits_at, due = seen.get("waits_at"), seen.get("due")
    if isinstance(waits_at, int) and isinstance(due, int) and moment(waits_at) > now - NOTED and moment(due) <= soon:
        return
    latest = any_of(absent("waits_at"), below("waits_at", now))  # a late packet must not make it look longer ago
    sooner = any_of(absent("due"), above("due", soon))
    if not _try(store, update(key, (latest, sooner), {"waits_at": now, "due": soon})):
        _try(store, update(key, (latest,), {"waits_at": now}, set_if_absent={"due": soon}))
        _try(store, update(key, (sooner,), {"due": soon}))


def wait_write(limiter: Limiter, job: Job, now: datetime, timings: Timings) -> Update:
    """The place in the line is that of whoever could have run since then."""
    mark = {"waiting": limiter.name, "waits_since": job.ready_at or now, "paused_by": None, "wrote": Wrote.MARK}
    return mark_write(job, mark, now, timings)


def look_later(store: Store, limiter: str, seen: Row, now: datetime, timings: Timings, *, nobody_waits: bool) -> None:
    """The supervisor has looked after the slots: it comes again while somebody holds or wants one.

    Refused, somebody took or wanted one meanwhile, and the slots stay due. Raises Unavailable.
    """
    key, due = slots_key(limiter), as_seen("due", seen.get("due"))
    waits_at = as_seen("waits_at", seen.get("waits_at"))
    waits = seen.get("waits_at") is not None and not nobody_waits
    if waits or holders(seen):
        cleared: dict[str, object] = {"waits_at": None} if nobody_waits else {}
        _try(store, update(key, (due, waits_at), {"due": now + timings.due_grace} | cleared))
    else:
        _try(store, update(key, (due, waits_at, fewer("held", 1)), {"due": None, "waits_at": None}))


def _open(store: Store, limiter: Limiter, now: datetime, timings: Timings) -> None:
    """Make the item of a limiter that nobody was in yet."""
    key = slots_key(limiter.name)
    values = {"held": {}, "due_shard": due_shard(key.id), "due": now + timings.due_grace, "ttl": _ttl(now, timings)}
    _try(store, put(key, values, absent("held")))


def _ttl(now: datetime, timings: Timings) -> int:
    """Not before the end of any job that may be in it."""
    return round((now + timings.give_up_after + timings.keep_row).timestamp())


def _refusals(store: Store, writes: Sequence[Write]) -> dict[int, Row | None]:
    """One alone is no transaction, which would cost twice as much and stand in the way of others."""
    try:
        if len(writes) == 1:
            store.write(writes[0])
        else:
            store.transact(writes)
    except Refused as refusal:
        return {0: refusal.old}
    except TransactionRefused as refusal:
        return refusal.refused
    return {}


def _try(store: Store, write: Put | Update) -> bool:
    try:
        store.write(write)
    except Refused:
        return False
    return True
