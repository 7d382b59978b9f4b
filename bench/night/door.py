"""The door: the product's own admission, over what the supervisor counted last."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from bench.night.stage import Stage
from coatcheck.admission import Allowance, Asking, Standing, admit, allowance
from coatcheck.limiter import MOST_SLOTS
from coatcheck.load import NotedLane, NotedLoad
from coatcheck.memory import MemoryStore
from coatcheck.problem import TooMany
from coatcheck.row import milliseconds
from coatcheck.tenant_limits import TenantLimits

BEGINS = datetime(2026, 7, 31, 19, tzinfo=UTC)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 16.0
"""What a client waits on top of `Retry-After`, doubled with each refusal, so that not all come back together."""

Place = tuple[str, str]
"""A lane and a tenant."""


def pause(seconds: float, refusals: int, chance: float) -> float:
    """How long a client waits that was refused before, as docs/limits.md asks for. `chance` is within 0 and 1."""
    own: float = min(FIRST_PAUSE_SECONDS * 2 ** min(refusals, 10), LONGEST_PAUSE_SECONDS)
    return seconds + own * (1 + chance) / 2


def noted(open_jobs: Mapping[Place, int], ready: Mapping[Place, int], stage: Stage, counted: datetime) -> NotedLoad:
    """What is counted: jobs that wait weigh up to their tenant's cap; lanes that share a queue share its backlog."""
    fair: Counter[str] = Counter()
    for (lane, _), jobs in ready.items():
        fair[stage.queues[lane]] += min(jobs, stage.terms.caps.get(lane, MOST_SLOTS))
    tenants: dict[str, dict[str, int]] = {}
    for (lane, tenant), jobs in open_jobs.items():
        tenants.setdefault(tenant, {})[lane] = jobs
    return NotedLoad(
        open_jobs=sum(open_jobs.values()),
        counted_at=milliseconds(counted),
        lanes={lane: NotedLane(fair_backlog=fair[queue]) for lane, queue in stage.queues.items()},
        tenants=tenants,
    )


@dataclass(kw_only=True)
class Door:
    """Counts what is open, and says who may hand in."""

    stage: Stage
    _open: Counter[Place] = field(default_factory=Counter)
    _ready: Counter[Place] = field(default_factory=Counter)
    _load: NotedLoad = field(default_factory=NotedLoad)
    _count_at: float = 0.0
    _tenants: MemoryStore = field(default_factory=MemoryStore)
    _standings: dict[str, Standing] = field(default_factory=dict)
    _allowances: dict[str, Allowance] = field(init=False)

    def __post_init__(self) -> None:
        self._allowances = {lane: allowance(self.stage.terms, TenantLimits(), lane) for lane in self.stage.queues}

    def ask(self, lane: str, tenant: str, now: float) -> int | None:
        """None if the job is let in, else its `Retry-After`."""
        moment = BEGINS + timedelta(seconds=now)
        self._look(now, moment)
        asking = Asking(
            tenant=tenant,
            lane=lane,
            allowance=self._allowances[lane],
            load=self._load,
            terms=self.stage.terms,
            now=moment,
        )
        try:
            admit(self._tenants, asking, self._standings.get(tenant, Standing()), partial(self._know, tenant))
        except TooMany as refusal:
            return refusal.seconds
        return None

    def accept(self, lane: str, tenant: str) -> None:
        self._open[lane, tenant] += 1
        self.wait(lane, tenant)

    def wait(self, lane: str, tenant: str) -> None:
        self._ready[lane, tenant] += 1

    def start(self, lane: str, tenant: str) -> None:
        _less(self._ready, (lane, tenant))

    def end(self, lane: str, tenant: str) -> None:
        _less(self._open, (lane, tenant))

    def _know(self, tenant: str, standing: Standing) -> None:
        self._standings[tenant] = standing

    def _look(self, now: float, moment: datetime) -> None:
        if now >= self._count_at:
            self._load = noted(self._open, self._ready, self.stage, moment)
            self._count_at = now + self.stage.count_every


def _less(counter: Counter[Place], place: Place) -> None:
    counter[place] -= 1
    if not counter[place]:
        del counter[place]
