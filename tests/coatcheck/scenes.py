"""One job in a store, and a bell that rings it."""

from dataclasses import dataclass, field

from coatcheck.job import Job
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.ring import Bell
from tests.coatcheck.rows import a_bell, job_in, stored


@dataclass
class Scene:
    """A bell, what it rings, and the one job that it is about."""

    store: MemoryStore
    queues: MemoryQueues = field(default_factory=MemoryQueues)

    @property
    def bell(self) -> Bell:
        return a_bell(self.store, self.queues)

    @property
    def job(self) -> Job:
        return job_in(self.store)


def scene(job: Job, queues: MemoryQueues | None = None) -> Scene:
    return Scene(stored(job), queues or MemoryQueues())
