"""The supervisor: rings every job that is due, page by page, shard by shard."""

from collections.abc import Callable, Iterator
from datetime import datetime

from coatcheck.job import DUE_SHARDS
from coatcheck.ring import Bell, ring
from coatcheck.store import Store, Unavailable


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
    taken: dict[str, int] = {}
    for job_id in _due(bell.store, now()):
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
        start: str | None = None
        while True:
            page = store.due(f"due#{shard}", now, start)
            yield from page.ids
            if page.next is None:
                break
            start = page.next
