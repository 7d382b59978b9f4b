"""Jobs under a pause: the one of a store, whoever rings it, and the operators."""

from dataclasses import dataclass, field
from datetime import datetime

from coatcheck.hold import Hold
from coatcheck.job import Job
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import (
    Step,
)
from coatcheck.pause import Order, Scope, limiter, pause, resume
from coatcheck.ring import ring
from coatcheck.supervisor import wake_resumed
from tests.coatcheck.rows import (
    JOB_ID,
    NOW,
    a_bell,
    job_in,
    seconds,
    stored,
)

PROBE = limiter(Scope.KIND, "probe")
HOLD = Hold(limiter=PROBE, by="operator-1")
OTHER = Hold(limiter=limiter(Scope.LANE, "interactive"), by="operator-2")
FIRST = Order(by="operator-1", at=NOW)
MARK = {"waiting": PROBE, "waits_since": NOW, "paused_by": "operator-1"}


def mark(job: Job) -> tuple[object, object, object]:
    return job.waiting, job.waits_since, job.paused_by


NO_MARK = (None, None, None)
MARKED = (PROBE, NOW, "operator-1")


@dataclass
class Counter:
    """The one job of a store, the bell that rings it, and the operators who pause it."""

    store: MemoryStore
    queues: MemoryQueues = field(default_factory=MemoryQueues)

    def __post_init__(self) -> None:
        self.bell = a_bell(self.store, self.queues)

    @property
    def job(self) -> Job:
        return job_in(self.store)

    @property
    def sent(self) -> list[int]:
        return [bell.attempt for _, bell in self.queues.rung]

    def pause(self) -> None:
        pause(self.store, PROBE, FIRST)

    def resume(self, now: datetime = NOW) -> None:
        resume(self.store, PROBE, Order(by="operator-2", at=now))

    def ring(self, now: datetime = NOW) -> Step:
        return ring(self.bell, JOB_ID, now)

    def walk(self, now: datetime = NOW) -> dict[str, int]:
        return wake_resumed(self.bell, lambda: now, now + seconds(1))


def at(job: Job, *, paused: bool = True) -> Counter:
    counter = Counter(stored(job))
    if paused:
        counter.pause()
    return counter
