"""The world: one network, one table, its queues, a bucket, functions; and a record of all that was done."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import NoReturn, TypeVar

from coatcheck.admission import AdmissionTerms
from coatcheck.context import Source
from coatcheck.doorbell import Doorbell
from coatcheck.job import State
from coatcheck.limiter import Caps
from coatcheck.memory_objects import MemoryObjects
from coatcheck.problem import Busy
from coatcheck.slots import holders
from coatcheck.store import Unavailable
from coatcheck.tenant_limits import limits_key
from coatcheck.timings import Timings
from coatcheck.write import Table
from tests.coatcheck.admissions import GENEROUS
from tests.simulation.chaos import Chaos, Fault
from tests.simulation.lambdas import Handler, Invocation, Lambdas, Sandbox
from tests.simulation.network import Network
from tests.simulation.ports import Ports
from tests.simulation.queues import SimQueue
from tests.simulation.record import Answer, Log, Play, Plot, Surprise, told
from tests.simulation.scheduler import EPOCH, Actor, Dead, Scheduler
from tests.simulation.stream import Consumer
from tests.simulation.table import Change, SimTable

R = TypeVar("R")
LANES = ("interactive", "bulk")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """How a seed's deployment is configured."""

    timings: Timings
    worker_timeout: int
    visibility: int
    wake_visibility: int
    concurrency: int
    skew: int
    lag: int


@dataclass(kw_only=True)
class World:
    """Everything that a seed's run consists of."""

    random: Random
    stage: Stage
    chaos: Chaos
    handlers: dict[str, Handler]
    tracing: bool = False
    lines: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    """Of the jobs' rows."""

    pauses: list[Change] = field(default_factory=list)
    slots: list[Change] = field(default_factory=list)
    limits: list[Change] = field(default_factory=list)
    sent: list[tuple[int, str, Doorbell]] = field(default_factory=list)
    surprises: list[Surprise] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    plays: list[Play] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    """What a scenario has in store for certain calls."""

    caps: Caps = field(default_factory=Caps)
    admission: AdmissionTerms = GENEROUS
    old_kinds: bool = False
    jumped_at: int = 2**62
    """When a clock jumped for the first time: from then on, what depends on clocks is not judged."""

    toothless: bool = False
    """No watchdog bites: then zombies live for as long as they like."""

    _tokens: int = 0

    def __post_init__(self) -> None:
        self.timings = self.stage.timings
        self.scheduler = Scheduler(self.random)
        self.network = Network(self)
        self.log = Log(self)
        self.table = SimTable(now=lambda: self.now, lag=self._lag, by=lambda: self.author)
        self.table.changed.append(self._changed)
        self.bucket = MemoryObjects()
        self.consumers = [
            Consumer(world=self, function="dispatcher", open_work_only=True),
            Consumer(world=self, function="recorder", open_work_only=False),
        ]
        timeouts = dict.fromkeys(self.handlers, 30_000) | {
            "supervisor": 70_000,
            **{f"worker-{lane}": self.stage.worker_timeout for lane in LANES},
        }
        self.lambdas = Lambdas(world=self, handlers=self.handlers, timeouts=timeouts)
        dead = SimQueue(world=self, name="dead", function=None, visibility=30_000)
        unstarted = SimQueue(world=self, name="unstarted", function="unstarted", visibility=self.stage.wake_visibility)
        self.queues = {
            "dead": dead,
            "unstarted": unstarted,
            "wake": SimQueue(world=self, name="wake", function="wake", visibility=self.stage.wake_visibility, batch=10),
        }
        for lane in LANES:
            self.queues[lane] = SimQueue(
                world=self,
                name=lane,
                function=f"worker-{lane}",
                visibility=self.stage.visibility,
                concurrency=self.stage.concurrency,
                redrive_to=unstarted,
            )

    @property
    def now(self) -> int:
        return self.scheduler.now

    @property
    def time(self) -> datetime:
        return EPOCH + timedelta(milliseconds=self.now)

    def at(self, when: int, do: Callable[[], None]) -> None:
        self.scheduler.at(when, do)

    def after(self, delay: int, do: Callable[[], None]) -> None:
        self.scheduler.after(delay, do)

    def strikes(self, fault: Fault, chance: float) -> bool:
        struck = self.chaos.strikes(fault, self.now, chance)
        if struck:
            self.trace(f"FAULT {fault}")
        return struck

    @property
    def author(self) -> object:
        """Who acts now: an invocation, or nobody known."""
        actor = self.scheduler.current
        return self.network.author if actor is None else actor.context

    def trouble(self, fault: Fault) -> None:
        """Something befell the invocation that acts now."""
        author = self.author
        if isinstance(author, Invocation) and fault is not Fault.REPEATED:
            author.troubles.append(fault)

    def held(self, seconds: float) -> None:
        """The current actor keeps the interpreter's lock."""
        self.chaos.struck[Fault.INTERPRETER_HELD] += 1
        self.trouble(Fault.INTERPRETER_HELD)
        self.scheduler.me.machine.held_until = self.now + round(seconds * 1000)
        self.scheduler.sleep(0)

    def end_process(self, machine: Sandbox, why: str = "ends itself") -> NoReturn:
        self.lambdas.kill(machine, why)
        raise Dead

    def failed(self, error: BaseException, text: str, about: str) -> None:
        """An exception that somebody logged, or nobody caught. Only services that do not answer explain one."""
        self.trace(f"{text}: {error!r}", about)
        if not isinstance(error, (Unavailable, Busy)):
            self.surprises.append(Surprise(at=self.now, text=f"{text}: {error!r}", about=about))

    def trace(self, text: str, *about: str) -> None:
        if self.tracing:
            actor = self.scheduler.current
            who = f"{actor.machine.name}/{actor.name}" if isinstance(actor, Actor) else "-"
            self.lines.append((self.now, f"{who}: {text}", about))

    def about(self, queue: str, receipt: str) -> str:
        message = self.queues[queue].messages.get(receipt.partition("/")[0])
        return message.about if message else ""

    def equip(self, machine: Sandbox) -> None:
        machine.ports = Ports(self, machine)

    def a_skew(self) -> int:
        return 0 if not self.stage.skew else self.random.randrange(-self.stage.skew, self.stage.skew)

    def known_kinds(self, function: str) -> frozenset[str]:
        """The workers are deployed last."""
        old = self.old_kinds and function.startswith("worker")
        return frozenset({"errand"}) if old else frozenset({"errand", "parcel"})

    def token(self, machine: str) -> str:
        self._tokens += 1
        return f"{machine}#{self._tokens}"

    def random_bytes(self, number: int) -> bytes:
        return self.random.randbytes(number)

    def no_source(self) -> Source:
        raise RuntimeError("no kind here reads a source")

    def _lag(self) -> int:
        if self.strikes(Fault.INDEX_LATE, 0.003):
            return self.random.randrange(5_000, 40_000)
        return self.random.randrange(1, self.stage.lag)

    def _changed(self, change: Change) -> None:
        if change.key.id.startswith(limits_key("").id):
            self.limits.append(change)
            self.trace(f"LIMITS {change.key.id} {change.new}")
        if change.key.table is not Table.JOBS:
            return
        if change.key.item == "pauses":
            self.pauses.append(change)
        if change.key.item == "slots":
            self.slots.append(change)
            self.trace(f"SLOTS {change.key.id} {change.new}", *holders(change.new))
        if change.key.item != "job":
            return
        self.changes.append(change)
        author = change.by
        new = change.new
        claims = change.old is not None and change.old["state"] == State.QUEUED and new["state"] == State.RUNNING
        if claims and isinstance(author, Invocation):
            author.claimed = (change.key.id, int(str(new["attempt"])), str(new.get("owner")))
        for consumer in self.consumers:
            if consumer.takes(change):
                consumer.offer(change)
        if self.tracing:
            self.trace(told(change), change.key.id)
