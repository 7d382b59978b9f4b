"""Limiters: how many jobs may be in flight at once, of a tenant's lane, of a kind, or with the same values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from coatcheck.job import Job

MOST_SLOTS = 100
"""The largest cap: who holds a slot stands in one item, which each taking and freeing bills as a whole."""

PAUSE_MARK = "pause#"
"""How the name begins of what jobs wait for that are paused. It stands here as all who look at waits know it."""


class Shared(StrEnum):
    """What jobs have in common that share a limiter. Each begins the names of its limiters."""

    TENANT = "tenant"
    KIND = "kind"
    VALUE = "value"


@dataclass(frozen=True, kw_only=True)
class Limiter:
    """A cap by its name, which the rows of the jobs bear that wait for it."""

    name: str
    cap: int


Limiting: TypeAlias = Callable[[Job, datetime], tuple[Limiter, ...]]
"""What limits a job, as far as is known at a time."""


class CapOutOfRange(ValueError):
    def __init__(self, what: str, cap: int) -> None:
        super().__init__(f"{what} must be a whole number within 1 and {MOST_SLOTS}, not {cap!r}")
        self.what = what
        self.cap = cap


def checked_cap(what: str, cap: int) -> int:
    """Raises CapOutOfRange, also for what is no int: who declares a kind may not look at types."""
    if type(cap) is not int or not 1 <= cap <= MOST_SLOTS:
        raise CapOutOfRange(what, cap)
    return cap


@dataclass(frozen=True, kw_only=True)
class Caps:
    """The caps of a stage: of each tenant by lane, of kinds, and of the values of args that kinds name."""

    lanes: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, cap in (*self.lanes.items(), *self.kinds.items(), *self.values.items()):
            checked_cap(f"the cap of {name}", cap)


def limiters_of(job: Job, caps: Caps, own: Mapping[str, int]) -> tuple[Limiter, ...]:
    """The limiters of a job, always in the same order. `own` are its tenant's caps by lane, instead of the stage's."""
    found = [
        (limiter_of_tenant(job.tenant, job.lane), own.get(job.lane, caps.lanes.get(job.lane))),
        (f"{Shared.KIND}#{job.kind}", caps.kinds.get(job.kind)),
        (f"{Shared.VALUE}#{job.kind}#{job.cap_value}", caps.values.get(job.kind) if job.cap_value else None),
    ]
    return tuple(Limiter(name=name, cap=cap) for name, cap in found if cap is not None)


def limiter_of_tenant(tenant: str, lane: str) -> str:
    return f"{Shared.TENANT}#{lane}#{tenant}"


def shared(name: str) -> Shared | None:
    """What jobs share that wait for a limiter; None if it is no limiter but a pause."""
    first = name.partition("#")[0]
    return Shared(first) if first in set(Shared) else None
