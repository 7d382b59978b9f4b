"""A door: admission as a process of the API knows it, with the tables behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coatcheck.admission import AdmissionTerms
from coatcheck.limiter import Caps
from coatcheck.load import LOAD_KEY
from coatcheck.memory import MemoryStore
from coatcheck.problem import TooMany
from coatcheck.run.admissions import Admissions
from coatcheck.run.known_limits import KnownLimits
from coatcheck.run.known_load import KnownLoad
from coatcheck.write import put
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, a_job, seconds

TERMS = AdmissionTerms(
    requests_per_second=10,
    burst=50,
    open_jobs=100,
    caps={"interactive": 3},
    lines={"interactive": 90},
    line_seconds=900,
    job_seconds=30,
    count_seconds=20,
)


@dataclass(kw_only=True)
class Door:
    """A process that lets jobs in, and the tables behind it. Its time stands still, but for `waits`."""

    rows: MemoryStore = field(default_factory=MemoryStore)
    terms: AdmissionTerms = TERMS
    now: datetime = NOW
    unsure: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = FailingStore(under=self.rows)
        self.admissions = self.process()

    def process(self) -> Admissions:
        limits, load = KnownLimits(self.store, Caps()), KnownLoad(self.store)
        return Admissions(self.store, limits, load, self.terms, lambda *told: self.unsure.append(told))

    def counts(self, tenants: Mapping[str, int], backlog: int = 0, as_of: datetime | None = None) -> None:
        """The supervisor comes round."""
        load = {
            "open_jobs": sum(tenants.values()),
            "counted_at": as_of or self.now,
            "tenants": {tenant: {"interactive": jobs} for tenant, jobs in tenants.items()},
            "lanes": {"interactive": {"backlog": 10**6, "fair_backlog": backlog}},
        }
        self.rows.write(put(LOAD_KEY, load))

    def waits(self, span: float) -> None:
        self.now += seconds(span)

    def submits(self, times: int = 1, tenant: str = "acme", by: Admissions | None = None, **job: Any) -> int:
        """How many of so many jobs are let in, until one is refused."""
        return sum(self.refused(tenant, by, **job) is None for _ in range(times))

    def refused(self, tenant: str = "acme", by: Admissions | None = None, **job: Any) -> TooMany | None:
        try:
            (by or self.admissions).submit(a_job(tenant=tenant, **job), self.now)
        except TooMany as refusal:
            return refusal
        return None

    def calls(self) -> list[str]:
        made, self.store.calls = self.store.calls, []
        return made
