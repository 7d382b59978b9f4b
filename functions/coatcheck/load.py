"""The load: how many jobs are open, and how often a client should ask under it."""

from datetime import datetime

from coatcheck.job import DUE_SHARDS
from coatcheck.store import Store
from coatcheck.write import Key, Table, put

SHORTEST_POLL_SECONDS = 2
LONGEST_POLL_SECONDS = 30

LOAD_KEY = Key(table=Table.JOBS, id="load", item="load")
"""Beside the jobs: no id of a job looks like this, and the stream's filter passes over it."""


def count_load(store: Store, now: datetime) -> int:
    """Count the open jobs, each of which will be due at some time, and note the number. Raises Unavailable."""
    open_jobs = sum(store.count_due(f"due#{shard}") for shard in range(DUE_SHARDS))
    store.write(put(LOAD_KEY, {"open_jobs": open_jobs, "counted_at": now}))
    return open_jobs


def noted_load(store: Store) -> int:
    """What was counted last; none, if nothing was yet. Raises Unavailable."""
    open_jobs = (store.get(LOAD_KEY) or {}).get("open_jobs", 0)
    return open_jobs if isinstance(open_jobs, int) else 0


def poll_seconds(open_jobs: int, polls_per_second: int) -> int:
    """How long clients should wait, so that all of them together ask no more often than that."""
    return min(max(-(-open_jobs // polls_per_second), SHORTEST_POLL_SECONDS), LONGEST_POLL_SECONDS)
