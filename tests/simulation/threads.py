"""Threads and locks as the scheduler steps them."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Self

from tests.simulation.scheduler import Actor, Do, Scheduler


class Greenlets:
    """The port to threads: theirs are actors of the same machine, and their locks know them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def lock(self) -> AbstractContextManager[object]:
        return Lock(self._scheduler)

    def start(self, name: str, run: Do) -> "Joinable":
        return Joinable(self._scheduler, self._scheduler.spawn(self._scheduler.me.machine, name, run))


@dataclass
class Joinable:
    scheduler: Scheduler
    actor: Actor

    def join(self) -> None:
        while not self.actor.over:
            self.actor.joiners.append(self.scheduler.me)
            self.scheduler.block()


class Lock:
    """One actor at a time, and the same one as often as it likes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._owner: Actor | None = None
        self._depth = 0
        self._queue: list[Actor] = []

    def __enter__(self) -> Self:
        while self._owner not in (None, self._scheduler.current):
            self._queue.append(self._scheduler.me)
            self._scheduler.block()
        self._owner = self._scheduler.current
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None
            for waiter in self._queue:
                self._scheduler.rouse(waiter)
            self._queue.clear()
