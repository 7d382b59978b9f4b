"""The tables: conditional writes and transactions, indexes that lag, and a stream of what changed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock

from coatcheck.index import Place, page_of, places, shown
from coatcheck.job import DUE_SHOWS, job_key
from coatcheck.judgement import holds
from coatcheck.limits import check_item, check_key, check_reads, check_writes
from coatcheck.row import Row, milliseconds
from coatcheck.store import IndexPage, ListPage, Refused, RowPage, TransactionRefused
from coatcheck.write import Key, Put, Table, Write

SHOWN = frozenset({"id", "tenant", "due_shard", "due", "waiting", "waits_since", *DUE_SHOWS})


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What one write did to one item. `by` is whoever wrote: the world's note of the actor."""

    at: int
    by: object
    key: Key
    old: Row | None
    new: Row


@dataclass(kw_only=True)
class SimTable:
    """Rows are values: whoever gets one gets a copy of its first level, and nobody changes what lies deeper."""

    now: Callable[[], int] = lambda: 0
    lag: Callable[[], int] = lambda: 0
    by: Callable[[], object] = lambda: None
    page_size: int = 100
    rows: dict[Key, Row] = field(default_factory=dict)
    changed: list[Callable[[Change], None]] = field(default_factory=list)
    _index: dict[Key, Row] = field(default_factory=dict)
    _late: list[tuple[int, Key, Row | None]] = field(default_factory=list)
    _lock: RLock = field(default_factory=RLock, repr=False)
    """For the conformance suite, which comes with real threads."""

    def get(self, key: Key) -> Row | None:
        check_key(key)
        row = self.rows.get(key)
        return None if row is None else dict(row)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        check_reads(keys)
        return {key: dict(self.rows[key]) for key in keys if key in self.rows}

    def write(self, write: Write) -> Row:
        check_writes([write])
        with self._lock:
            self._check(write)
            return dict(self._apply(write))

    def transact(self, writes: Sequence[Write]) -> None:
        check_writes(writes)
        with self._lock:
            self._transact(writes)

    def _transact(self, writes: Sequence[Write]) -> None:
        refused: dict[int, Row | None] = {}
        for position, write in enumerate(writes):
            try:
                self._check(write)
            except Refused as refusal:
                refused[position] = refusal.old
        if refused:
            raise TransactionRefused(refused)
        for write in writes:
            self._apply(write)

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        most = milliseconds(now)
        found = [place for place in self._places("due_shard", shard, "due") if place[0] <= most]
        return page_of(found, start, self.page_size)

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        page = page_of(self._places("due_shard", shard, "due"), start, self.page_size)
        return RowPage(
            rows=tuple(shown(self._index[job_key(job_id)], DUE_SHOWS) for job_id in page.ids), next=page.next
        )

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return page_of(self._places("waiting", limiter, "waits_since"), start, self.page_size)

    def count_waiting(self, limiter: str) -> int:
        return len(self._places("waiting", limiter, "waits_since"))

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        ids = (job_id for job_id, row in self._indexed() if row.get("tenant") == tenant and row.get("id") == job_id)
        rest = sorted((job_id for job_id in ids if before is None or job_id < before), reverse=True)
        return ListPage(ids=tuple(rest[:most]), more=len(rest) > most)

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        found = [key for key in self.rows if key.id == job_id and key.item.startswith(prefix)]
        return [dict(self.rows[key]) for key in sorted(found, key=lambda key: key.item, reverse=True)[:most]]

    def drop(self, key: Key) -> None:
        """What the table does some time after an item's TTL."""
        del self.rows[key]
        if key in self._index:
            self._late.append((self.now(), key, None))

    def _places(self, partition: str, of: str, time: str) -> list[Place]:
        return places(self._indexed(), partition, of, time)

    def _indexed(self) -> Iterator[tuple[str, Row]]:
        """The indexes as they are by now: each item's changes arrive in their order, some time later."""
        if self._late:
            self._catch_up(self.now())
        return ((key.id, row) for key, row in self._index.items())

    def _catch_up(self, now: int) -> None:
        rest = []
        held: set[Key] = set()
        for when, key, row in self._late:
            if when > now or key in held:
                held.add(key)
                rest.append((when, key, row))
            elif row is None:
                self._index.pop(key, None)
            else:
                self._index[key] = row
        self._late = rest

    def _check(self, write: Write) -> None:
        row = self.rows.get(write.key)
        exists = row is not None or isinstance(write, Put)
        if not exists or not all(holds(condition, row or {}) for condition in write.when):
            raise Refused(None if row is None else dict(row))

    def _apply(self, write: Write) -> Row:
        old = self.rows.get(write.key)
        if isinstance(write, Put):
            row = dict(write.row)
        else:
            row = {**write.set_if_absent, **(old or {}), **write.set}
            for name in write.remove:
                row.pop(name, None)
        check_item(write.key, row)
        self.rows[write.key] = row
        if write.key.table is Table.JOBS and ("due_shard" in row or "waiting" in row or "tenant" in row):
            self._arrive(write.key, {name: row[name] for name in row if name in SHOWN})
        change = Change(at=self.now(), by=self.by(), key=write.key, old=old, new=row)
        for tell in self.changed:
            tell(change)
        return row

    def _arrive(self, key: Key, row: Row) -> None:
        lag = self.lag()
        if lag == 0 and not self._late:
            self._index[key] = row
        else:
            self._late.append((self.now() + lag, key, row))
