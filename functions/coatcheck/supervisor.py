"""The supervisor: rings every job that is due, and whoever waits for the end of a pause that is over."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from coatcheck.job import DUE_SHARDS
from coatcheck.pause import forget, pauses
from coatcheck.ring import Bell, ring
from coatcheck.store import IndexPage, Store, Unavailable

FORGET_AFTER = timedelta(minutes=2)
"""Longer than any process goes by what it knew of pauses, and any index lags."""


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
            step = type(ring(bell, job_id, now())).__name__
        except Unavailable:
            step = "Unavailable"
        except Exception as error:  # noqa: BLE001  # one job of many: the others must not wait for it
            step = "Broken"
            broken(job_id, error)
        taken[step] = taken.get(step, 0) + 1
    return taken


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
