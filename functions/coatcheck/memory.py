"""In-memory tables and queues, as strict as AWS: for tests and the simulation."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import RLock

from coatcheck.doorbell import DeadLetter, Doorbell
from coatcheck.index import Place, page_of, places, shown
from coatcheck.job import DUE_SHOWS
from coatcheck.judgement import holds
from coatcheck.limits import BeyondLimits, check_item, check_key, check_reads, check_writes
from coatcheck.row import Row, milliseconds
from coatcheck.slots import due_key
from coatcheck.store import MOST_AHEAD, IndexPage, ListPage, Refused, RowPage, TransactionRefused
from coatcheck.write import Key, Put, Write


@dataclass(kw_only=True)
class MemoryStore:
    """Tables with conditional writes, transactions and indexes that never lag.

    What goes in and out are copies, so that nobody changes a row but by a write.
    """

    page_size: int = 100
    rows: dict[Key, Row] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock, repr=False)

    def get(self, key: Key) -> Row | None:
        check_key(key)
        with self._lock:
            return self._copied(self.rows[key]) if key in self.rows else None

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        check_reads(keys)
        with self._lock:
            return {key: self._copied(self.rows[key]) for key in keys if key in self.rows}

    def write(self, write: Write) -> Row:
        check_writes([write])
        with self._lock:
            self._check(write)
            return self._copied(self._apply(write))

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
        with self._lock:
            page = page_of(self._places("due_shard", shard, "due"), start, self.page_size)
            rows = tuple(shown(self._indexed()[due_key(job_id)], DUE_SHOWS) for job_id in page.ids)
        return RowPage(rows=rows, next=page.next)

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return page_of(self._places("waiting", limiter, "waits_since"), start, self.page_size)

    def count_waiting(self, limiter: str, before: datetime | None = None) -> int:
        found = self._places("waiting", limiter, "waits_since")
        if before is None:
            return len(found)
        return min(MOST_AHEAD, sum(since < milliseconds(before) for since, _ in found))

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        with self._lock:
            rows = self._indexed().items()
            ids = [key.id for key, row in rows if row.get("tenant") == tenant and row.get("id") == key.id]
        rest = sorted((job_id for job_id in ids if before is None or job_id < before), reverse=True)
        return ListPage(ids=tuple(rest[:most]), more=len(rest) > most)

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        with self._lock:
            found = [key for key in self.rows if key.id == job_id and key.item.startswith(prefix)]
            newest = sorted(found, key=lambda key: key.item, reverse=True)[:most]
            return [self._copied(self.rows[key]) for key in newest]

    def _places(self, partition: str, of: str, time: str) -> list[Place]:
        with self._lock:
            return places(((key.id, row) for key, row in self._indexed().items()), partition, of, time)

    def _indexed(self) -> dict[Key, Row]:
        """The rows as the indexes know them."""
        return self.rows

    def _copied(self, row: Row) -> Row:
        return deepcopy(row)

    def _check(self, write: Write) -> None:
        row = self.rows.get(write.key)
        exists = row is not None or isinstance(write, Put)
        if not exists or not all(holds(condition, row or {}) for condition in write.when):
            raise Refused(None if row is None else self._copied(row))

    def _apply(self, write: Write) -> Row:
        if isinstance(write, Put):
            row = self._copied(write.row)
        else:
            row = {**self._copied(write.set_if_absent), **self.rows[write.key]}
            for name, value in self._copied(write.set).items():
                place, last = _place(row, name)
                place[last] = value
            for name, number in write.add.items():
                row[name] = _number(row, name) + number
            for name in write.remove:
                place, last = _place(row, name)
                place.pop(last, None)
        check_item(write.key, row)
        self.rows[write.key] = row
        return row


def _place(row: Row, name: str) -> tuple[Row, str]:
    """Where an attribute stands, or an entry of a map, which is made anew: rows share their maps."""
    first, _, entry = name.partition(".")
    if not entry:
        return row, first
    whole = row.get(first)
    if not isinstance(whole, dict):
        raise BeyondLimits(f"the path {name} in the update leads through nothing")
    row[first] = entries = dict(whole)
    return entries, entry


def _number(row: Row, name: str) -> int:
    held = row.get(name, 0)
    if isinstance(held, bool) or not isinstance(held, int):
        raise BeyondLimits(f"numbers are added to numbers, and {name} is none")
    return held


@dataclass(kw_only=True)
class MemoryQueues:
    """Queues that remember what was sent."""

    rung: list[tuple[str, Doorbell]] = field(default_factory=list)
    woken: list[tuple[str, timedelta]] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def ring(self, lane: str, doorbell: Doorbell) -> None:
        self.rung.append((lane, doorbell))

    def wake(self, job_id: str, delay: timedelta) -> None:
        if not timedelta(0) <= delay <= timedelta(minutes=15):
            raise BeyondLimits(f"SQS delays a message by 0 to 900 seconds, not by {delay}")
        self.woken.append((job_id, delay))

    def dead_letter(self, letter: DeadLetter) -> None:
        self.dead_letters.append(letter)


@dataclass(kw_only=True)
class MemoryMessage:
    """A message that remembers for how long it was hidden."""

    hidden: list[timedelta] = field(default_factory=list)

    def hide(self, span: timedelta) -> None:
        if not timedelta(0) <= span <= timedelta(hours=12):
            raise BeyondLimits(f"SQS hides a message for 0 to 43,200 seconds, not for {span}")
        self.hidden.append(span)
