"""Virtual time. Actors are greenlets that stop at every call to the outside; a heap says who goes on when."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random
from threading import Event
from typing import TypeAlias

from greenlet import getcurrent, greenlet

EPOCH = datetime(2026, 11, 10, 12, tzinfo=UTC)
Do: TypeAlias = Callable[[], None]


class Dead(BaseException):
    """The machine was killed: nothing on it runs on. No `except Exception` sees it, and no call has an effect."""


class Machine:
    """A computer with a clock of its own: a sandbox of a function, or a client's."""

    def __init__(self, name: str, skew: int = 0) -> None:
        self.name = name
        self.skew = skew
        self.paused_until = 0
        """The whole machine stands still."""

        self.held_until = 0
        """Code holds the interpreter's lock: its threads stand still, the watchdog does not."""

        self.idle = False
        """Frozen between invocations."""

        self.dead = False
        self.actors: list[Actor] = []
        self.parked: list[Actor] = []
        self.waiters: list[tuple[Actor, Event]] = []


class Actor:
    """A thread of a machine."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine = machine
        self.name = name
        self.wake = 0
        self.over = False
        self.joiners: list[Actor] = []
        self.context: object = None
        """What the world notes about it: the invocation that it belongs to."""

        self.greenlet: greenlet


Entry: TypeAlias = "tuple[int, float, int, Actor | None, int, Do | None]"
"""When, its lot among equals, a number, and either who goes on (if it still waits for this) or what is done."""


class Scheduler:
    """Times are milliseconds since the beginning. Equal times are drawn lots for."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now = 0
        self.steps = 0
        self.current: Actor | None = None
        self.failure: BaseException | None = None
        self._heap: list[Entry] = []
        self._living: set[Actor] = set()
        self._number = 0
        self._hub = getcurrent()

    def at(self, when: int, do: Do) -> None:
        """Do something outside every actor."""
        self._push(when, None, 0, do)

    def after(self, delay: int, do: Do) -> None:
        self._push(self.now + delay, None, 0, do)

    def spawn(self, machine: Machine, name: str, run: Do, delay: int = 0) -> Actor:
        actor = Actor(machine, name)
        actor.context = self.current.context if self.current is not None else None
        actor.greenlet = greenlet(lambda: self._run(actor, run), self._hub)
        machine.actors.append(actor)
        self._living.add(actor)
        self._push(self.now + delay, actor, 0, None)
        return actor

    def sleep(self, span: int) -> None:
        """The current actor goes on after some milliseconds."""
        actor = self.me
        self._push(self.now + max(0, span), actor, actor.wake, None)
        self._switch(actor)

    def block(self) -> None:
        """The current actor goes on when it is woken."""
        self._switch(self.me)

    def rouse(self, actor: Actor) -> None:
        """Wake an actor now, wherever it waits."""
        self._push(self.now, actor, actor.wake, None)

    def wait(self, event: Event, span: int) -> None:
        """The current actor goes on after some milliseconds, or as soon as an event is set on its machine."""
        actor = self.me
        waiting = (actor, event)
        if event.is_set():
            span = 0
        else:
            actor.machine.waiters.append(waiting)
        try:
            self.sleep(span)
        finally:
            if waiting in actor.machine.waiters:
                actor.machine.waiters.remove(waiting)

    def kill(self, machine: Machine) -> None:
        """Nothing of the machine runs on, not even its `finally` clauses: their calls raise Dead, too."""
        if machine.dead:
            return
        machine.dead = True
        for actor in list(machine.actors):
            if actor is not self.current:
                self.at(self.now, lambda actor=actor: self._bury(actor))  # type: ignore[misc]

    @property
    def me(self) -> Actor:
        if self.current is None:
            raise RuntimeError("only an actor can wait")
        if self.current.machine.dead:
            raise Dead
        return self.current

    def run(self, until: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Let things happen until a time, or until there is nothing more or a stop is called for between two."""
        while self._heap and self._heap[0][0] <= until and not stop():
            when, _, _, actor, wake, do = heappop(self._heap)
            self.now = max(self.now, when)
            if do is not None:
                do()
            elif actor is not None:
                self._resume(actor, wake)
            if self.failure is not None:
                raise self.failure

    def close(self) -> None:
        """The world is over. An actor that waits is garbage that no collector finds: its frames are out of sight."""
        for actor in list(self._living):
            actor.machine.dead = True
            self._bury(actor)
        self._heap.clear()

    def unfreeze(self, machine: Machine) -> None:
        machine.idle = False
        for actor in machine.parked:
            self._push(self.now, actor, actor.wake, None)
        machine.parked.clear()

    def clock(self, machine: Machine) -> datetime:
        return EPOCH + timedelta(milliseconds=self.now + machine.skew)

    def _resume(self, actor: Actor, wake: int) -> None:
        machine = actor.machine
        if actor.over or machine.dead or wake != actor.wake:
            return
        still = max(machine.paused_until, machine.held_until)
        if still > self.now:
            self._push(still, actor, actor.wake, None)
        elif machine.idle:
            machine.parked.append(actor)
        else:
            self._enter(actor, actor.greenlet.switch)

    def _enter(self, actor: Actor, switch: Callable[[], object]) -> None:
        self.steps += 1
        actor.wake += 1
        self.current = actor
        try:
            switch()
        finally:
            self.current = None
        if actor.machine.waiters:
            for waiter, event in list(actor.machine.waiters):
                if event.is_set():
                    self.rouse(waiter)

    def _bury(self, actor: Actor) -> None:
        if not actor.over and actor.greenlet:
            self._enter(actor, lambda: actor.greenlet.throw(Dead))
        actor.over = True

    def _switch(self, actor: Actor) -> None:
        self._hub.switch()
        if actor.machine.dead:
            raise Dead

    def _run(self, actor: Actor, run: Do) -> None:
        try:
            run()
        except Dead:
            pass
        except BaseException as error:  # noqa: BLE001  # it belongs to the simulation: it ends the run
            self.failure = error
        finally:
            actor.over = True
            self._living.discard(actor)
            if actor in actor.machine.actors:
                actor.machine.actors.remove(actor)
            for joiner in actor.joiners:
                self.rouse(joiner)

    def _push(self, when: int, actor: Actor | None, wake: int, do: Do | None) -> None:
        self._number += 1
        heappush(self._heap, (when, self.random.random(), self._number, actor, wake, do))
