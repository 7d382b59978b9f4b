"""Stores that fail as DynamoDB fails."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from coatcheck.row import Row
from coatcheck.store import IndexPage, ListPage, RowPage, Store, Unavailable
from coatcheck.write import Key, Write


@dataclass(kw_only=True)
class _Reading:
    """Reads go through."""

    under: Store

    def get(self, key: Key) -> Row | None:
        return self.under.get(key)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        return self.under.get_many(keys)

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        return self.under.due(shard, now, start)

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        return self.under.all_due(shard, start)

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return self.under.waiting(limiter, start)

    def count_waiting(self, limiter: str, before: datetime | None = None) -> int:
        return self.under.count_waiting(limiter, before)

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        return self.under.listed(tenant, most, before)

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        return self.under.beside(job_id, prefix, most)


@dataclass(kw_only=True)
class RepeatingStore(_Reading):
    """Every answer of a write is lost once, so that the SDK repeats the call."""

    def write(self, write: Write) -> Row:
        self.under.write(write)
        return self.under.write(write)

    def transact(self, writes: Sequence[Write]) -> None:
        self.under.transact(writes)
        self.under.transact(writes)


@dataclass(kw_only=True)
class FailingStore(_Reading):
    """The next calls fail: `before` they take effect, or `after`, when only the answer is lost.

    `reads` fail in their own right.
    """

    before: int = 0
    after: int = 0
    reads: int = 0
    calls: list[str] = field(default_factory=list)

    def get(self, key: Key) -> Row | None:
        self.calls.append("get")
        if self.reads > 0:
            self.reads -= 1
            raise Unavailable("ProvisionedThroughputExceededException")
        return self.under.get(key)

    def write(self, write: Write) -> Row:
        self.calls.append("write")
        self._refuse()
        row = self.under.write(write)
        self._lose()
        return row

    def transact(self, writes: Sequence[Write]) -> None:
        self.calls.append("transact")
        self._refuse()
        self.under.transact(writes)
        self._lose()

    def _refuse(self) -> None:
        if self.before > 0:
            self.before -= 1
            raise Unavailable("ThrottlingException")

    def _lose(self) -> None:
        if self.after > 0:
            self.after -= 1
            raise Unavailable("ReadTimeoutError")


def losing(under: Store, when: str, times: int) -> FailingStore:
    """A store whose next calls fail, as `when` says: `before` or `after` they take effect."""
    return FailingStore(under=under, before=times if when == "before" else 0, after=times if when == "after" else 0)
