"""The load: how many jobs are open, how many wait in each lane and since when, and how often clients should ask."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from coatcheck.job import DUE_SHARDS, FINAL, State
from coatcheck.pause import MARK
from coatcheck.row import Row, moment
from coatcheck.store import Store
from coatcheck.write import Key, Table, put

SHORTEST_POLL_SECONDS = 2
LONGEST_POLL_SECONDS = 30

LOAD_KEY = Key(table=Table.JOBS, id="load", item="load")
"""Beside the jobs: no id of a job looks like this, and the stream's filter passes over it."""


@dataclass(frozen=True, kw_only=True)
class LaneLoad:
    """The jobs that could run, and do not yet: sent or not, whatever they wait for but the end of a pause."""

    backlog: int = 0
    ready_since: datetime | None = None
    """Since when the one could run that has waited the longest."""

    def and_one(self, ready_at: datetime) -> "LaneLoad":
        return LaneLoad(backlog=self.backlog + 1, ready_since=min(self.ready_since or ready_at, ready_at))

    def oldest_wait(self, now: datetime) -> timedelta:
        return timedelta(0) if self.ready_since is None else now - self.ready_since


@dataclass(frozen=True, kw_only=True)
class Load:
    open_jobs: int = 0
    lanes: Mapping[str, LaneLoad] = field(default_factory=dict)
    whole: bool = True
    """False if the time was over before all was counted: then there is at least so much."""


def count_load(store: Store, now: Callable[[], datetime], until: datetime) -> Load:
    """Count the open jobs, each of which will be due at some time; note that if it is the whole. Raises Unavailable.

    The time is looked at between pages of some hundred jobs.
    """
    began = now()
    load = Load()
    for rows in _pages(store):
        load = _with(load, rows, began)
        if now() >= until:
            return replace(load, whole=False)
    store.write(put(LOAD_KEY, {"open_jobs": load.open_jobs, "counted_at": began, "lanes": load.lanes}))
    return load


def noted_load(store: Store) -> int:
    """How many jobs were open when they were counted last; none, if they never were. Raises Unavailable."""
    open_jobs = (store.get(LOAD_KEY) or {}).get("open_jobs", 0)
    return open_jobs if isinstance(open_jobs, int) else 0


def poll_seconds(open_jobs: int, polls_per_second: int) -> int:
    """How long clients should wait, so that all of them together ask no more often than that."""
    return min(max(-(-open_jobs // polls_per_second), SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)


def _pages(store: Store) -> Iterator[tuple[Row, ...]]:
    for shard in range(DUE_SHARDS):
        start: str | None = None
        while True:
            page = store.all_due(f"due#{shard}", start)
            yield page.rows
            if page.next is None:
                break
            start = page.next


def _with(load: Load, rows: tuple[Row, ...], now: datetime) -> Load:
    lanes = dict(load.lanes)
    for row in rows:
        if (ready_at := _waits_since(row, now)) is not None:
            lane = str(row["lane"])
            lanes[lane] = lanes.get(lane, LaneLoad()).and_one(ready_at)
    open_jobs = sum("state" in row and row["state"] not in FINAL for row in rows)  # slots are due there, too
    return replace(load, open_jobs=load.open_jobs + open_jobs, lanes=lanes)


def _waits_since(row: Row, now: datetime) -> datetime | None:
    """Since when the job of a row could run that nobody runs; None if it is no such job."""
    ready_at = row.get("ready_at")
    if row.get("state") != State.QUEUED or not isinstance(ready_at, int) or moment(ready_at) > now:
        return None
    return None if str(row.get("waiting", "")).startswith(MARK) else moment(ready_at)
