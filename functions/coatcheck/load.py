"""The load: how many jobs are open, whose, how many wait in each lane and since when, and how often to ask for them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from coatcheck.job import DUE_SHARDS, FINAL, State
from coatcheck.limiter import MOST_SLOTS, PAUSE_MARK, shared
from coatcheck.row import Row, moment
from coatcheck.store import Refused, Store
from coatcheck.write import Key, Table, absent, any_of, at_most, put

SHORTEST_POLL_SECONDS = 2
LONGEST_POLL_SECONDS = 30
COUNT_EVERY = timedelta(seconds=10)
"""The load is counted no more often than that, and looked up as seldom."""

MOST_NOTED = 500
"""Tenants, those with the most open jobs: every process that answers requests reads them all every ten seconds. Of
the others none has more open jobs than any of these, so that they are nobody whom a limit would mean."""

LOAD_KEY = Key(table=Table.JOBS, id="load", item="load")
"""Beside the jobs: no id of a job looks like this, and the stream's filter passes over it."""


@dataclass(frozen=True, kw_only=True)
class LaneLoad:
    """The jobs that could run, and do not yet: sent or not, whatever they wait for but the end of a pause."""

    backlog: int = 0
    fair_backlog: int = 0
    """Those of them that others wait for: of each tenant no more than it may have in flight."""

    ready_since: datetime | None = None
    """Since when the one could run that has waited the longest for a worker, and not for other jobs to end."""

    def oldest_wait(self, now: datetime) -> timedelta:
        return timedelta(0) if self.ready_since is None else now - self.ready_since


@dataclass(frozen=True, kw_only=True)
class Load:
    open_jobs: int = 0
    lanes: Mapping[str, LaneLoad] = field(default_factory=dict)
    tenants: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The open jobs, by tenant and lane, of those who have the most."""

    whole: bool = True
    """False if the time was over before all was counted: then there is at least so much."""


@dataclass(frozen=True, kw_only=True)
class NotedLane:
    fair_backlog: int = 0


@dataclass(frozen=True, kw_only=True)
class NotedLoad:
    """The load as it was noted last; nothing, if it never was."""

    open_jobs: int = 0
    counted_at: int = 0
    """When that count began, in milliseconds."""

    lanes: Mapping[str, NotedLane] = field(default_factory=dict)
    tenants: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def as_of(self) -> datetime | None:
        return moment(self.counted_at) if self.counted_at else None

    def fair_backlog(self, lane: str) -> int:
        return self.lanes.get(lane, NotedLane()).fair_backlog

    def open_of(self, tenant: str, lane: str | None = None) -> int:
        """Of a tenant that is not among those with the most: none."""
        known = self.tenants.get(tenant, {})
        return sum(known.values()) if lane is None else known.get(lane, 0)


@dataclass(kw_only=True)
class _Count:
    """What was found so far, by lane and tenant."""

    open_jobs: Counter[tuple[str, str]] = field(default_factory=Counter)
    ready: Counter[tuple[str, str]] = field(default_factory=Counter)
    ready_since: dict[str, datetime] = field(default_factory=dict)

    def add(self, row: Row, now: datetime) -> None:
        if row.get("state", State.FAILED) in FINAL:  # slots are due there, too
            return
        place = lane, _ = str(row["lane"]), str(row.get("tenant"))
        self.open_jobs[place] += 1
        ready_at, waits_for = row.get("ready_at"), str(row.get("waiting", ""))
        if row["state"] != State.QUEUED or not isinstance(ready_at, int) or moment(ready_at) > now:
            return
        if waits_for.startswith(PAUSE_MARK):
            return
        self.ready[place] += 1
        if shared(waits_for) is None:
            self.ready_since[lane] = min(self.ready_since.get(lane, now), moment(ready_at))

    def load(self, caps: Mapping[str, int], *, whole: bool) -> Load:
        backlog: Counter[str] = Counter()
        fair: Counter[str] = Counter()
        for (lane, _), jobs in self.ready.items():
            backlog[lane] += jobs
            fair[lane] += min(jobs, caps.get(lane, MOST_SLOTS))
        lanes = {
            lane: LaneLoad(backlog=jobs, fair_backlog=fair[lane], ready_since=self.ready_since.get(lane))
            for lane, jobs in backlog.items()
        }
        return Load(open_jobs=self.open_jobs.total(), lanes=lanes, tenants=self._largest(), whole=whole)

    def _largest(self) -> dict[str, dict[str, int]]:
        whole: Counter[str] = Counter()
        for (_, tenant), jobs in self.open_jobs.items():
            whole[tenant] += jobs
        found: dict[str, dict[str, int]] = {tenant: {} for tenant, _ in whole.most_common(MOST_NOTED)}
        for (lane, tenant), jobs in self.open_jobs.items():
            if tenant in found:
                found[tenant][lane] = jobs
        return found


def count_load(store: Store, now: Callable[[], datetime], until: datetime, caps: Mapping[str, int]) -> Load:
    """Count the open jobs, each of which will be due at some time; note that if it is the whole, and the latest.

    `caps` are those of every tenant by lane; one that is allowed more counts no more. The time is looked at between
    pages of some hundred jobs. Raises Unavailable.
    """
    began = now()
    count = _Count()
    for rows in _pages(store):
        for row in rows:
            count.add(row, began)
        if now() >= until:
            return count.load(caps, whole=False)
    load = count.load(caps, whole=True)
    noted = {"open_jobs": load.open_jobs, "counted_at": began, "lanes": load.lanes, "tenants": load.tenants}
    with suppress(Refused):  # one that began later was noted meanwhile
        store.write(put(LOAD_KEY, noted, any_of(absent("counted_at"), at_most("counted_at", began))))
    return load


def noted_load(store: Store) -> NotedLoad:
    """Raises Unavailable."""
    return msgspec.convert(store.get(LOAD_KEY) or {}, NotedLoad)


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
