"""The port to the tables: consistent reads, conditional writes, transactions, and indexes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from coatcheck.row import Row
from coatcheck.write import Key, Put, Update, Write

MOST_AHEAD = 100


class Refused(Exception):
    """A condition did not hold. `old` is the row that stood in the way, None if there is none."""

    def __init__(self, old: Row | None) -> None:
        super().__init__("a conditional write was refused")
        self.old = old


class TransactionRefused(Exception):
    """At least one condition of a transaction did not hold; nothing was written.

    `refused` holds, by the position of each write that was refused, the row that stood in the way.
    """

    def __init__(self, refused: dict[int, Row | None]) -> None:
        super().__init__(f"a transaction was refused by its writes {sorted(refused)}")
        self.refused = refused


class Unavailable(Exception):
    """The service did not answer, or refused for a reason that passes: whether a write took effect is unknown."""

    def __init__(self, code: str) -> None:
        super().__init__(f"the service is unavailable: {code}")
        self.code = code


@dataclass(frozen=True, kw_only=True)
class IndexPage:
    """Job ids out of an index by time, the oldest first, and where the next page starts."""

    ids: tuple[str, ...]
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class RowPage:
    """What an index shows of some jobs, and where the next page starts."""

    rows: tuple[Row, ...]
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListPage:
    """Job ids of one tenant, the newest first, and whether there may be more behind the last."""

    ids: tuple[str, ...]
    more: bool


class Store(Protocol):
    def get(self, key: Key) -> Row | None:
        """Read consistently. Raises Unavailable."""

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        """Read 1 to 100 different rows consistently; those that are not there are left out. Raises Unavailable."""

    def write(self, write: Write) -> Row:
        """Write if the conditions hold and return the row as it then is. Raises Refused, Unavailable."""

    def transact(self, writes: Sequence[Write]) -> None:
        """Write all or nothing. Raises TransactionRefused, Unavailable."""

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        """Candidates only: the index lags. Raises Unavailable."""

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        """`DUE_SHOWS` of each job of a shard that will be due at some time; the index lags. Raises Unavailable."""

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        """Candidates only, the longest waiting first: the index lags. Raises Unavailable."""

    def count_waiting(self, limiter: str, before: datetime | None = None) -> int:
        """How many jobs wait for a limiter; or of those that wait since before a time, up to MOST_AHEAD.

        The index lags. Raises Unavailable.
        """

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        """Up to `most` candidates whose ids are smaller than `before`: the index lags. Raises Unavailable."""

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        """Read consistently what lies beside a job's row by the prefix of its name: up to `most`, last name first.

        Fewer also when they are larger than 1 MB together. Raises Unavailable.
        """


def write_or_find(store: Store, write: Put | Update, mine: Callable[[Row], bool]) -> Row:
    """Write, and know the own echo: a call whose answer was lost is repeated, and refused by its own effect.

    `mine` says whether the row that stood in the way shows the effect of this very write. Raises Refused.
    """
    try:
        return store.write(write)
    except Refused as refusal:
        if refusal.old is not None and mine(refusal.old):
            return refusal.old
        raise
