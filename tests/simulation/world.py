"""The world: one network, one table, its queues, a bucket, functions; and a record of all that was done."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, NoReturn, TypeVar

from coatcheck.context import Source
from coatcheck.doorbell import Doorbell
from coatcheck.job import State
from coatcheck.memory import MemoryObjects
from coatcheck.problem import Busy
from coatcheck.store import Unavailable
from coatcheck.timings import Timings
from coatcheck.write import Table
from tests.simulation.chaos import Chaos, Fault
from tests.simulation.lambdas import Handler, Invocation, Lambdas, Sandbox
from tests.simulation.ports import Ports, milliseconds
from tests.simulation.queues import SimQueue
from tests.simulation.scheduler import EPOCH, Actor, Dead, Machine, Scheduler
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


@dataclass(frozen=True, kw_only=True)
class Surprise:
    """Something that no rule provides for."""

    at: int
    text: str
    about: str


class Log:
    """The functions' log: lines of the trace. An exception that no fault explains is a surprise."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def info(self, message: str, /, **fields: Any) -> None:
        self._world.trace(f"log: {message} {fields.get('extra', fields)}", self._about(fields))

    warning = error = info

    def exception(self, message: str, /, **fields: Any) -> None:
        import sys

        error = sys.exc_info()[1]
        assert error is not None
        self._world.failed(error, message, self._about(fields))

    def append_keys(self, **_: Any) -> None: ...

    def _about(self, fields: dict[str, Any]) -> str:
        author = self._world.author
        return str(fields.get("job_id") or (author.about if isinstance(author, Invocation) else ""))


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
    sent: list[tuple[int, str, Doorbell]] = field(default_factory=list)
    surprises: list[Surprise] = field(default_factory=list)
    answers: list["Answer"] = field(default_factory=list)
    plays: list["Play"] = field(default_factory=list)
    plots: list["Plot"] = field(default_factory=list)
    """What a scenario has in store for certain calls."""

    old_kinds: bool = False
    jumped_at: int = 2**62
    """When a clock jumped for the first time: from then on, what depends on clocks is not judged."""

    toothless: bool = False
    """No watchdog bites: then zombies live for as long as they like."""

    _author: object = None
    _tokens: int = 0

    def __post_init__(self) -> None:
        self.timings = self.stage.timings
        self.scheduler = Scheduler(self.random)
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
        return self._author if actor is None else actor.context

    def call(self, what: str, about: str, effect: Callable[[], R], *, reads: bool = False, beats: bool = False) -> R:
        """A call over the network."""
        actor = self.scheduler.current
        if actor is None:
            return effect()
        machine = self.scheduler.me.machine
        fault = self._plotted(what, about) or self.chaos.at_call(self.now, reads=reads)
        self.scheduler.sleep(self.random.randrange(2, 18))
        if beats and self.strikes(Fault.BEATS_SLOW, 0.01):
            self.trouble(Fault.BEATS_SLOW)
            self.scheduler.sleep(self._share_of_lease(0.1, 0.8))
        if fault is None:
            return self._done(what, about, effect)
        assert isinstance(machine, Sandbox)
        self.trace(f"FAULT {fault} at {what}", about)
        self.trouble(fault)
        return self._under(fault, machine, what, about, effect)

    def _plotted(self, what: str, about: str) -> Fault | None:
        author = self.author
        if self.plots and isinstance(author, Invocation) and about.startswith("j_"):
            for plot in self.plots:
                if plot.meets(author.function, what):
                    self.trace(f"PLOT {plot.function} {plot.what}", about)
                    return plot.befalls()
        return None

    def _under(self, fault: Fault, machine: Sandbox, what: str, about: str, effect: Callable[[], R]) -> R:
        match fault:
            case Fault.KILLED:
                if self.random.random() < 0.5:
                    self._swallow(what, about, effect)
                self.end_process(machine, "killed")
            case Fault.PAUSED:
                if self.random.random() < 0.3:
                    result = self._done(what, about, effect)
                    self._pause(machine)
                    return result
                self._pause(machine)
            case Fault.REFUSED:
                raise Unavailable("ThrottlingException")
            case Fault.ANSWER_LOST:
                self._swallow(what, about, effect)
                self.scheduler.sleep(self._share_of_lease(0.02, 0.25))
                raise Unavailable("ReadTimeoutError")
            case Fault.REPEATED:
                self._swallow(what, about, effect)
                self.scheduler.sleep(self.random.randrange(20, 900))
            case Fault.STRAY:
                author = self.author
                self.after(self._share_of_lease(0.1, 1.2), lambda: self._as(author, what, about, effect))
                self.scheduler.sleep(self._share_of_lease(0.02, 0.25))
                raise Unavailable("ReadTimeoutError")
            case Fault.SLOW:
                self.scheduler.sleep(self._share_of_lease(0.05, 0.3))
        return self._done(what, about, effect)

    def glance(self, effect: Callable[[], R]) -> R:
        """A look at an index. It lags anyway, so that nobody needs to come between."""
        fault = self.chaos.at_call(self.now, reads=True)
        if self.scheduler.current is not None and fault is Fault.REFUSED:
            raise Unavailable("ThrottlingException")
        return effect()

    def _done(self, what: str, about: str, effect: Callable[[], R]) -> R:
        if not self.tracing:
            return effect()
        try:
            result = effect()
        except Exception as error:
            self.trace(f"{what} -> {type(error).__name__}", about)
            raise
        self.trace(what, about)
        return result

    def _swallow(self, what: str, about: str, effect: Callable[[], object]) -> None:
        with suppress(Exception):  # whatever it answers, nobody hears it
            self._done(what, about, effect)

    def _as(self, author: object, what: str, about: str, effect: Callable[[], object]) -> None:
        self._author = author
        self._swallow(f"late: {what}", about, effect)
        self._author = None

    def _pause(self, machine: Machine) -> None:
        machine.paused_until = self.now + self._share_of_lease(0.6, 2.5)
        self.scheduler.sleep(0)

    def _share_of_lease(self, least: float, most: float) -> int:
        lease = milliseconds(self.timings.lease)
        return round(lease * self.random.uniform(least, most))

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
        if change.key.table is not Table.JOBS:
            return
        if change.key.item == "pauses":
            self.pauses.append(change)
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


def told(change: Change) -> str:
    """A write as a line of a story."""
    old = change.old or {}
    before, after = old.get("state", "-"), change.new["state"]
    shown = ", ".join(
        f"{name} {old.get(name)}→{change.new.get(name)}"
        for name in sorted({*old, *change.new})
        if name not in ("state", "updated_at", "progress", "wrote") and old.get(name) != change.new.get(name)
    )
    return f"WROTE {before} → {after} ({change.new.get('wrote')}) by {change.by}: {shown}"


@dataclass(kw_only=True)
class Plot:
    """What befalls the n-th call of a function that begins like this; and how often in a row."""

    function: str
    what: str
    nth: int = 1
    times: int = 1
    befalls: Callable[[], Fault | None]
    """Says which fault, if any; it may let time pass, or others do something."""

    def meets(self, function: str, what: str) -> bool:
        if not (function.startswith(self.function) and what.startswith(self.what)):
            return False
        self.nth -= 1
        return -self.times < self.nth <= 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client was told."""

    at: int
    request: str
    tenant: str
    key: str | None
    status: int
    body: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Play:
    """What a kind did in an attempt, in its own words."""

    at: int
    job_id: str
    attempt: int
    did: str
