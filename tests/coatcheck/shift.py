"""A worker's shift: everything that a worker works with, and the one job that it is about."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from coatcheck import JobContext, Result
from coatcheck.doorbell import Doorbell
from coatcheck.job import Job, row_of
from coatcheck.memory import MemoryMessage, MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.run.known_pauses import KnownPauses
from coatcheck.run.worker import Delivery, Desk, work
from coatcheck.store import Store
from tests.coatcheck.attempts import Kennel, QuietLog
from tests.coatcheck.clock import HandTurnedClock
from tests.coatcheck.rows import TIMINGS, a_job, doorbell, job_in
from tests.coatcheck.scripts import Args, Play, playing


@dataclass(kw_only=True)
class Shift:
    """A worker at its desk, and the one job that it is about."""

    job: Job = field(default_factory=lambda: a_job(kind="script"))
    through: Callable[[MemoryStore], Store] = lambda store: store
    beats_through: Callable[[MemoryStore], Store] = lambda store: store
    store: MemoryStore = field(default_factory=MemoryStore)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    clock: HandTurnedClock = field(default_factory=HandTurnedClock)
    watchdog: Kennel = field(default_factory=Kennel)
    message: MemoryMessage = field(default_factory=MemoryMessage)
    beats: MemoryMessage = field(default_factory=MemoryMessage)
    log: QuietLog = field(default_factory=QuietLog)
    tokens: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**6)))

    def __post_init__(self) -> None:
        self.store.rows.setdefault(self.job.key, row_of(self.job))
        self.known = KnownPauses(self.store)

    def works(self, play: Play = lambda _, __: None, *, bell: Doorbell | None = None, receives: int = 1) -> bool:
        desk = Desk(
            store=self.through(self.store),
            beat_store=self.beats_through(self.store),
            objects=self.objects,
            holding=self.known.hold,
            lane=self.job.lane,
            source=lambda: pytest.fail("no test here reads a source"),
            timings=TIMINGS,
            clock=self.clock,
            watchdog=self.watchdog,
            token=lambda: f"token-{next(self.tokens)}",
            chance=lambda: 0.5,
            end_process=lambda: None,
            log=self.log,
        )
        delivery = Delivery(
            doorbell=bell or doorbell(self.row),
            message=self.message,
            beat_message=self.beats,
            receives=receives,
            deadline=self.clock.now() + timedelta(minutes=15),
        )
        with playing(play):
            return work(desk, delivery)

    @property
    def row(self) -> Job:
        return job_in(self.store, self.job.id)


def failing(error: Exception) -> Play:
    def play(ctx: JobContext, args: Args) -> Result:
        raise error

    return play
