"""Jobs under caps: several in a store, whoever rings them, and the slots that they take."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coatcheck.job import Job, job_key, job_of
from coatcheck.limiter import Caps
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import Step
from coatcheck.ring import Bell, ring
from coatcheck.row import Row, encoded, moment
from coatcheck.slots import holders, slots_key
from coatcheck.supervisor import look_after, supervise
from coatcheck.tenant_limits import limits_key
from coatcheck.write import put
from tests.coatcheck.rows import NOW, a_bell, a_job, seconds, stored

ACME = "tenant#interactive#acme"


def an_id(number: int) -> str:
    return f"j_{number:026}"


def queued(number: int, **changes: Any) -> Job:
    """The jobs' order is that of their numbers."""
    at = NOW + seconds(number / 1000)
    return a_job(**({"id": an_id(number), "created_at": at, "ready_at": at} | changes))


@dataclass
class Line:
    store: MemoryStore
    caps: Caps
    queues: MemoryQueues = field(default_factory=MemoryQueues)

    def __post_init__(self) -> None:
        self.bell: Bell = a_bell(self.store, self.queues, caps=self.caps)

    def ring(self, number: int, now: datetime = NOW) -> Step:
        return ring(self.bell, an_id(number), now)

    def job(self, number: int) -> Job:
        return job_of(self.store.rows[job_key(an_id(number))])

    def change(self, number: int, **changes: Any) -> None:
        """What a worker or a client wrote."""
        row = self.store.rows[job_key(an_id(number))]
        for name, value in changes.items():
            if value is None:
                row.pop(name, None)
            else:
                row[name] = encoded(value)

    @property
    def sent(self) -> list[int]:
        return [int(bell.job_id.removeprefix("j_")) for _, bell in self.queues.rung]

    def slots(self, limiter: str = ACME) -> Row:
        return self.store.rows.get(slots_key(limiter), {"held": {}})

    def held(self, limiter: str = ACME) -> dict[int, int]:
        return {int(job_id.removeprefix("j_")): attempt for job_id, attempt in holders(self.slots(limiter)).items()}

    def due(self, limiter: str = ACME) -> datetime | None:
        value = self.slots(limiter).get("due")
        return moment(value) if isinstance(value, int) else None

    def look_after(self, now: datetime = NOW, limiter: str = ACME) -> None:
        look_after(self.bell, limiter, now)

    def supervise(self, now: datetime) -> dict[str, int]:
        return supervise(self.bell, lambda: now, now + seconds(60))

    def set_caps(self, tenant: str, **caps: int) -> None:
        self.store.write(put(limits_key(tenant), {"caps": caps}))


def line(*jobs: Job, cap: int = 2, **caps: Any) -> Line:
    return Line(stored(*jobs), Caps(**({"lanes": {"interactive": cap}} | caps)))
