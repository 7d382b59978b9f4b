"""Attempts under way: a claimed job, and the lease that its worker holds."""

from dataclasses import dataclass, field
from datetime import timedelta

from coatcheck.job import Job, row_of
from coatcheck.memory import MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.run.clock import Clock
from coatcheck.run.lease import HeldLease
from coatcheck.store import Store
from coatcheck.timings import Timings
from tests.coatcheck.clock import VirtualClock
from tests.coatcheck.rows import TIMINGS, an_owned_job, job_in


@dataclass(kw_only=True)
class Attempt:
    """One attempt's lease with all that it touches. `through` is the store as the worker reaches it."""

    job: Job = field(default_factory=an_owned_job)
    store: MemoryStore = field(default_factory=MemoryStore)
    through: Store | None = None
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    clock: VirtualClock = field(default_factory=VirtualClock)
    timings: Timings = TIMINGS
    yields_in: timedelta = timedelta(minutes=10)

    def __post_init__(self) -> None:
        self.store.rows.setdefault(self.job.key, row_of(self.job))
        self.lease = held(self.job, self.through or self.store, self.objects, self.clock, self.timings, self.yields_in)

    @property
    def row(self) -> Job:
        return job_in(self.store, self.job.id)


def held(
    job: Job,
    store: Store,
    objects: MemoryObjects,
    clock: Clock,
    timings: Timings = TIMINGS,
    yields_in: timedelta = timedelta(minutes=10),
) -> HeldLease:
    return HeldLease(
        job=job,
        store=store,
        objects=objects,
        clock=clock,
        timings=timings,
        yield_at=clock.now() + yields_in,
        delays=timings.retry_delays,
    )


class QuietLog:
    """A log that remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def info(self, message: str, /, **fields: object) -> None:
        self.lines.append((message, fields))

    def warning(self, message: str, /, **fields: object) -> None:
        self.lines.append((message, fields))


@dataclass(kw_only=True)
class Kennel:
    """A watchdog that remembers for how long it was let loose, and whether it was called back."""

    armed: list[timedelta] = field(default_factory=list)
    cancelled: int = 0

    def arm(self, span: timedelta) -> None:
        self.armed.append(span)

    def cancel(self) -> None:
        self.cancelled += 1
