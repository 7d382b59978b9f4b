"""The tables: conditional writes and transactions, indexes that lag, and a stream of what changed."""

from collections.abc import Callable
from dataclasses import dataclass, field

from coatcheck.job import DUE_SHOWS
from coatcheck.memory import MemoryStore
from coatcheck.row import Row
from coatcheck.write import Key, Table, Write

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
class SimTable(MemoryStore):
    """The in-memory store with a past: every change is told, and the indexes learn of it some time later.

    A copy is of a row's first level alone, which is much faster: nobody here changes what lies deeper.
    """

    now: Callable[[], int] = lambda: 0
    lag: Callable[[], int] = lambda: 0
    by: Callable[[], object] = lambda: None
    changed: list[Callable[[Change], None]] = field(default_factory=list)
    _index: dict[Key, Row] = field(default_factory=dict)
    _late: list[tuple[int, Key, Row | None]] = field(default_factory=list)

    def drop(self, key: Key) -> None:
        """What the table does some time after an item's TTL."""
        del self.rows[key]
        if key in self._index:
            self._late.append((self.now(), key, None))

    def _copied(self, row: Row) -> Row:
        return dict(row)

    def _indexed(self) -> dict[Key, Row]:
        """Each item's changes arrive in their order."""
        if self._late:
            self._catch_up(self.now())
        return self._index

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

    def _apply(self, write: Write) -> Row:
        old = self.rows.get(write.key)
        row = super()._apply(write)
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
