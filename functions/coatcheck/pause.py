"""Pauses: which kinds, lanes and tenants operators hold back, in one item beside the jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

import msgspec

from coatcheck.hold import Hold
from coatcheck.limiter import PAUSE_MARK
from coatcheck.problem import Busy, NotFound
from coatcheck.row import Value, moment
from coatcheck.store import Refused, Store
from coatcheck.write import Key, Put, Table, as_seen, put

PAUSES_KEY = Key(table=Table.JOBS, id="pauses", item="pauses")
"""Beside the jobs: no id of a job looks like this, and the stream's filters pass over it."""

MOST_TRIES = 5


class Scope(StrEnum):
    """What can be paused."""

    KIND = "kind"
    LANE = "lane"
    TENANT = "tenant"


@dataclass(frozen=True, kw_only=True)
class Order:
    """Who said so, and when."""

    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """What is paused, and what was resumed while its jobs are still being woken: each by its limiter."""

    version: int = 0
    held: Mapping[str, Order] = field(default_factory=dict)
    resumed: Mapping[str, Order] = field(default_factory=dict)

    def on(self, kind: str, lane: str, tenant: str) -> Hold | None:
        """What holds a job; of several limiters always the same one."""
        for scope, name in ((Scope.KIND, kind), (Scope.LANE, lane), (Scope.TENANT, tenant)):
            if (order := self.held.get(each := limiter(scope, name))) is not None:
                return Hold(limiter=each, by=order.by)
        return None


def limiter(scope: Scope, name: str) -> str:
    """What the rows of the jobs say that wait for the end of a pause."""
    return f"{PAUSE_MARK}{scope}#{name}"


def paused_part(of: str) -> tuple[Scope, str]:
    """The scope and the name of a limiter."""
    _, scope, name = of.split("#", 2)
    return Scope(scope), name


def pauses(store: Store) -> Pauses:
    """What is paused now. Raises Unavailable."""
    row = store.get(PAUSES_KEY)
    if row is None:
        return Pauses()
    return Pauses(version=int(str(row["version"])), held=_orders(row["held"]), resumed=_orders(row["resumed"]))


def pause(store: Store, what: str, order: Order) -> None:
    """Hold a limiter's jobs back; an order that stands stays. Raises Busy, Unavailable."""

    def paused(seen: Pauses) -> Pauses:
        if what in seen.held:
            return seen
        return replace(seen, held={**seen.held, what: order}, resumed=_without(seen.resumed, what))

    _change(store, paused)


def resume(store: Store, what: str, order: Order) -> None:
    """Hold them back no longer; the supervisor wakes those that wait. Raises NotFound, Busy, Unavailable."""

    def resumed(seen: Pauses) -> Pauses:
        if what in seen.held:
            return replace(seen, held=_without(seen.held, what), resumed={**seen.resumed, what: order})
        if what in seen.resumed:  # a call that is repeated
            return seen
        raise NotFound("the {} {} is not paused".format(*paused_part(what)))

    _change(store, resumed)


def forget(store: Store, what: str, order: Order) -> None:
    """Nobody waits any more for the end of a pause that this order brought. Raises Busy, Unavailable."""

    def forgotten(seen: Pauses) -> Pauses:
        return replace(seen, resumed=_without(seen.resumed, what)) if seen.resumed.get(what) == order else seen

    _change(store, forgotten)


def _change(store: Store, change: Callable[[Pauses], Pauses]) -> None:
    """Two operators at once lose nothing: whoever is second looks again."""
    for _ in range(MOST_TRIES):
        seen = pauses(store)
        wanted = change(seen)
        if wanted == seen:
            return
        try:
            store.write(_pauses_write(wanted))
        except Refused:
            continue
        return
    raise Busy("the pauses change faster than they can be written: try again")


def _pauses_write(wanted: Pauses) -> Put:
    return put(
        PAUSES_KEY,
        {"version": wanted.version + 1, "held": wanted.held, "resumed": wanted.resumed},
        as_seen("version", wanted.version or None),
    )


def _without(orders: Mapping[str, Order], what: str) -> dict[str, Order]:
    return {each: order for each, order in orders.items() if each != what}


class _Stored(msgspec.Struct):
    by: str
    at: int


def _orders(value: Value) -> dict[str, Order]:
    found = msgspec.convert(value, dict[str, _Stored])
    return {each: Order(by=order.by, at=moment(order.at)) for each, order in found.items()}
