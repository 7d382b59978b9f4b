"""The ports as a sandbox has them: each call goes over the world's network, with all that may befall it there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from threading import Event
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from coatcheck.doorbell import DeadLetter, Doorbell, Wake, message_body
from coatcheck.entry import Entry
from coatcheck.objects import StoredObject
from coatcheck.ring import Bell
from coatcheck.row import Row
from coatcheck.run.admissions import Admissions
from coatcheck.run.known_limits import KnownLimits
from coatcheck.run.known_load import KnownLoad
from coatcheck.run.known_pauses import KnownPauses
from coatcheck.run.pace import Pace
from coatcheck.run.worker import Desk
from coatcheck.slots import ITEM
from coatcheck.store import IndexPage, ListPage, RowPage
from coatcheck.write import Key, Table, Write
from tests.simulation.scheduler import Machine
from tests.simulation.threads import Greenlets

if TYPE_CHECKING:
    from tests.simulation.lambdas import Sandbox
    from tests.simulation.world import World

R = TypeVar("R")
Effect: TypeAlias = Callable[[], R]
REDRIVE = "redrive"


def milliseconds(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)


@dataclass(frozen=True)
class SimClock:
    world: "World"
    machine: Machine

    def now(self) -> datetime:
        return self.world.scheduler.clock(self.machine)

    def wait(self, event: Event, seconds: float) -> None:
        self.world.scheduler.wait(event, ceil(seconds * 1000))

    def sleep(self, seconds: float) -> None:
        self.world.scheduler.sleep(ceil(seconds * 1000))


@dataclass(frozen=True)
class SimStore:
    world: "World"
    beats: bool = False

    def get(self, key: Key) -> Row | None:
        return self.world.network.call("get", key.id, lambda: self.world.table.get(key), reads=True)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        return self.world.network.call("get many", "", lambda: self.world.table.get_many(keys), reads=True)

    def write(self, write: Write) -> Row:
        what = "slots" if write.key.item == ITEM else "write"
        return self.world.network.call(what, write.key.id, lambda: self.world.table.write(write), beats=self.beats)

    def transact(self, writes: Sequence[Write]) -> None:
        about = next((write.key.id for write in writes if write.key.table is Table.JOBS), "")
        self.world.network.call("transact", about, lambda: self.world.table.transact(writes))

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        return self.world.network.glance(lambda: self.world.table.due(shard, now, start))

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        return self.world.network.glance(lambda: self.world.table.all_due(shard, start))

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return self.world.network.glance(lambda: self.world.table.waiting(limiter, start))

    def count_waiting(self, limiter: str, before: datetime | None = None) -> int:
        return self.world.network.glance(lambda: self.world.table.count_waiting(limiter, before))

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        return self.world.network.glance(lambda: self.world.table.listed(tenant, most, before))

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        return self.world.network.call(
            "beside", job_id, lambda: self.world.table.beside(job_id, prefix, most), reads=True
        )


@dataclass(frozen=True)
class SimQueues:
    world: "World"

    def ring(self, lane: str, doorbell: Doorbell) -> None:
        def send() -> None:
            self.world.sent.append((self.world.now, lane, doorbell))
            self.world.queues[lane].send(message_body(doorbell), doorbell.job_id)

        self.world.network.call(f"ring {doorbell.attempt}", doorbell.job_id, send)

    def wake(self, job_id: str, delay: timedelta, entry: Entry | None = None) -> None:
        body = message_body(Wake(job_id=job_id, entry=entry))
        span = min(900, max(0, ceil(delay.total_seconds()))) * 1000
        self.world.network.call("wake", job_id, lambda: self.world.queues["wake"].send(body, job_id, delay=span))

    def dead_letter(self, letter: DeadLetter) -> None:
        mark = {REDRIVE: {"dataType": "String", "stringValue": letter.job_id}}
        body = message_body(letter)

        def send() -> None:
            self.world.queues["dead"].send(body, letter.job_id, attributes=mark)

        self.world.network.call("dead letter", letter.job_id, send)


@dataclass(frozen=True)
class SimMessagePort:
    world: "World"
    queue: str
    receipt: str

    def hide(self, span: timedelta) -> None:
        seconds = min(43_200, max(0, ceil(span.total_seconds())))
        about = self.world.about(self.queue, self.receipt)
        self.world.network.call(
            f"hide for {seconds} s", about, lambda: self.world.queues[self.queue].hide(self.receipt, seconds * 1000)
        )


@dataclass(frozen=True)
class SimObjects:
    world: "World"

    def begin(self, key: str, *, nonce: str, content_type: str) -> str:
        return self._call("begin", key, lambda: self.world.bucket.begin(key, nonce=nonce, content_type=content_type))

    def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
        return self._call("part", key, lambda: self.world.bucket.put_part(key, upload_id, number, data))

    def parts(self, key: str, upload_id: str) -> Mapping[int, str]:
        return self._call("parts", key, lambda: self.world.bucket.parts(key, upload_id))

    def complete(self, key: str, upload_id: str, etags: Sequence[tuple[int, str]]) -> None:
        self._call("complete", key, lambda: self.world.bucket.complete(key, upload_id, etags))

    def put(self, key: str, data: bytes, *, nonce: str, content_type: str, replacing: str | None = None) -> None:
        def put() -> None:
            self.world.bucket.put(key, data, nonce=nonce, content_type=content_type, replacing=replacing)

        self._call("put", key, put)

    def remove(self, prefix: str, before: datetime) -> None:
        self._call("remove", prefix, lambda: self.world.bucket.remove(prefix, before))

    def head(self, key: str) -> StoredObject | None:
        return self._call("head", key, lambda: self.world.bucket.head(key))

    def get(self, key: str) -> bytes | None:
        return self._call("get object", key, lambda: self.world.bucket.get(key))

    def _call(self, what: str, key: str, effect: Effect[R]) -> R:
        def timed() -> R:
            self.world.bucket.now = self.world.time
            return effect()

        return self.world.network.call(what, key.split("/")[2], timed, reads=what in ("parts", "head", "get object"))


class SimWatchdog:
    """A thread in C: it bites although the interpreter is held, but not while the whole machine stands still."""

    def __init__(self, world: "World", machine: "Sandbox") -> None:
        self._world = world
        self._machine = machine
        self._armed = 0

    def arm(self, span: timedelta) -> None:
        self._armed += 1
        number = self._armed
        self._world.after(max(1, milliseconds(span)), lambda: self._bite(number))

    def cancel(self) -> None:
        self._armed += 1

    def _bite(self, number: int) -> None:
        machine = self._machine
        if number != self._armed or machine.dead or machine.idle or self._world.toothless:
            return
        if machine.paused_until > self._world.now:
            late = self._world.random.choice((0, 0, 1, milliseconds(self._world.timings.lease) // 4))
            self._world.at(machine.paused_until + late, lambda: self._bite(number))
        else:
            self._world.lambdas.kill(machine, "the watchdog bites")


class Ports:
    """What one sandbox keeps: its adapters, and what it knows of pauses and of the load."""

    def __init__(self, world: "World", machine: "Sandbox") -> None:
        self.clock = SimClock(world, machine)
        self.store = SimStore(world)
        self.queues = SimQueues(world)
        self.objects = SimObjects(world)
        self.known_pauses = KnownPauses(self.store)
        known_load = KnownLoad(self.store)
        self.pace = Pace(known_load, world.timings.polls_per_second)
        known_limits = KnownLimits(self.store, world.caps)
        self.admissions = Admissions(self.store, known_limits, known_load, world.admission, lambda *_: None)
        self.watchdog = SimWatchdog(world, machine)
        self.bell = Bell(
            store=self.store,
            queues=self.queues,
            objects=self.objects,
            timings=world.timings,
            holding=self.known_pauses.hold,
            limiting=known_limits.limiters,
        )
        self.desk = Desk(
            store=self.store,
            beat_store=SimStore(world, beats=True),
            objects=self.objects,
            holding=self.known_pauses.hold,
            lane=machine.name.partition(".")[0].removeprefix("worker-"),
            source=world.no_source,
            timings=world.timings,
            clock=self.clock,
            watchdog=self.watchdog,
            token=lambda: world.token(machine.name),
            chance=world.random.random,
            end_process=lambda: world.end_process(machine),
            log=world.log,
            threads=Greenlets(world.scheduler),
        )
