"""The supervisor: rings every job that is due, whoever waits for the end of a pause, and looks after slots."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from coatcheck.hold import Hold
from coatcheck.job import DUE_SHARDS, Job, State, job_key, readable
from coatcheck.next_step import TakeBack
from coatcheck.pause import forget, pauses
from coatcheck.ring import Bell, fill_slots, ring, take
from coatcheck.row import moment
from coatcheck.slots import free_entry, holders, holds, limiter_named, look_later, paused, slots_key
from coatcheck.store import IndexPage, Store, Unavailable

FORGET_AFTER = timedelta(minutes=2)
"""Longer than any process goes by what it knew of pauses and caps, and any index lags."""


def supervise(
    bell: Bell,
    now: Callable[[], datetime],
    until: datetime,
    broken: Callable[[str, Exception], None] = lambda _, __: None,
) -> dict[str, int]:
    """Ring what is due until all is rung or the time is over; two at once are harmless.

    Returns how often each step was taken. A job that the service cannot serve now stays due for the next walk, and so
    does one that cannot be rung at all: `broken` gets its id and why.
    """
    return _rung(bell, _due(bell.store, now()), now, until, broken)


def wake_resumed(
    bell: Bell,
    now: Callable[[], datetime],
    until: datetime,
    broken: Callable[[str, Exception], None] = lambda _, __: None,
) -> dict[str, int]:
    """Ring whoever waits for the end of a pause that is over, one after the other, the longest waiting first.

    Somebody who did not know of the end yet may still mark a job: a walk that finds nobody is the last one only some
    time after it. Returns how often each step was taken. Raises Busy, Unavailable.
    """
    taken: dict[str, int] = {}
    for limiter, order in pauses(bell.store).resumed.items():
        walked = _rung(bell, _waiting(bell.store, limiter), now, until, broken)
        taken = {step: taken.get(step, 0) + walked.get(step, 0) for step in taken | walked}
        if now() >= until:
            break
        if not walked and now() - order.at >= FORGET_AFTER:
            forget(bell.store, limiter, order)
    return taken


def _rung(
    bell: Bell,
    job_ids: Iterable[str],
    now: Callable[[], datetime],
    until: datetime,
    broken: Callable[[str, Exception], None],
) -> dict[str, int]:
    taken: dict[str, int] = {}
    for job_id in job_ids:
        if now() >= until:
            break
        try:
            step = _ring(bell, job_id, now())
        except Unavailable:
            step = "Unavailable"
        except Exception as error:  # noqa: BLE001  # one job of many: the others must not wait for it
            step = "Broken"
            broken(job_id, error)
        taken[step] = taken.get(step, 0) + 1
    return taken


def _ring(bell: Bell, job_id: str, now: datetime) -> str:
    """Ring a job, or look after slots, which are due in the same index. Returns what was done."""
    limiter = limiter_named(job_id)
    if limiter is None:
        return type(ring(bell, job_id, now)).__name__
    look_after(bell, limiter, now)
    return "LookAfter"


def look_after(bell: Bell, limiter: str, now: datetime) -> None:
    """Free what nobody has a right to hold, send who holds a slot and was not sent, and fill what is free.

    Only here is it forgotten that somebody waits: when nobody was found to, some time after the last one said so.
    Raises Unavailable.
    """
    seen = bell.store.get(slots_key(limiter))
    if seen is None:
        return
    held = holders(seen)
    left = set(held)
    rows = bell.store.get_many([job_key(job_id) for job_id in held]) if held else {}
    for job_id, attempt in held.items():
        row = rows.get(job_key(job_id))
        job = readable(row)
        if row is None or (job is not None and not holds(job, attempt, now)):
            free_entry(bell.store, limiter, job_id, attempt, now)
            left.discard(job_id)
        elif job is not None and job.state is State.QUEUED and job.sent < job.attempt:
            _go_on(bell, job, now)
    waits_at = seen.get("waits_at")
    waiting = fill_slots(bell, limiter, left, now) if isinstance(waits_at, int) else 0
    nobody = not isinstance(waits_at, int) or (waiting == 0 and now - moment(waits_at) >= FORGET_AFTER)
    look_later(bell.store, limiter, seen, now, bell.timings, nobody_waits=nobody)


def _go_on(bell: Bell, job: Job, now: datetime) -> None:
    """Send who holds a slot and was not sent; if it is paused, owe the next number, so that the slot can be freed."""
    if paused(job) and job.waiting is not None:
        step = TakeBack(hold=Hold(limiter=job.waiting, by=job.paused_by or ""))
        take(bell, job, step, now)
    else:
        ring(bell, job.id, now)


def _due(store: Store, now: datetime) -> Iterator[str]:
    for shard in range(DUE_SHARDS):
        yield from _pages(partial(store.due, f"due#{shard}", now))


def _waiting(store: Store, limiter: str) -> Iterator[str]:
    return _pages(partial(store.waiting, limiter))


def _pages(read: Callable[[str | None], IndexPage]) -> Iterator[str]:
    start: str | None = None
    while True:
        page = read(start)
        yield from page.ids
        if page.next is None:
            return
        start = page.next
