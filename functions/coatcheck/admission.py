"""Admission: whether a job may be handed in now. The tenant's rate, then its open jobs, then the lane's backlog.

A refusal writes nothing. What is kept of a tenant is one item: its bucket of tokens, and a tally of what was accepted
since the open jobs were counted, so that a flood between two counts is seen. What ended since is seen by the next one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from coatcheck.limiter import MOST_SLOTS
from coatcheck.load import NotedLoad
from coatcheck.problem import LaneFull, TooFast, TooMany, TooManyOpen
from coatcheck.rate import SECOND, Rate, microseconds, spending, wait
from coatcheck.row import Row
from coatcheck.store import Refused, Store
from coatcheck.tenant_limits import TenantLimits
from coatcheck.write import Condition, Key, Put, Table, Update, absent, as_seen, below, is_, put, update

MOST_TRIES = 8
BELIEVED_FOR = timedelta(minutes=5)
"""An older count says nothing: that nobody counts is the operators' trouble, and no reason to refuse anybody."""


@dataclass(frozen=True, kw_only=True)
class AdmissionTerms:
    """What every tenant of a stage may, unless it has limits of its own, and what its lanes can do."""

    requests_per_second: int
    burst: int
    open_jobs: int
    caps: Mapping[str, int]
    """Jobs in flight at once, by lane; lanes without a cap are not in it."""

    lines: Mapping[str, int]
    """How many jobs a lane drains in `line_seconds`."""

    line_seconds: int
    job_seconds: float
    """How long a job takes, on average."""

    count_seconds: int
    """So long after a count began, the next one has ended."""


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What one tenant may in one lane. No cap is as much as the largest one."""

    rate: Rate
    open_jobs: int
    cap: int


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is kept of a tenant: when its bucket will be full, and how many were accepted since a count began."""

    full_at: int | None = None
    counted_at: int = 0
    accepted: int = 0

    def since(self, load: NotedLoad) -> int:
        """Accepted since that count; a tally that another process began after a newer count goes for it, too."""
        return self.accepted if self.counted_at >= load.counted_at else 0


def standing_key(tenant: str) -> Key:
    """Not the item of the tenant's limits: neither those who set them nor those who need them meet its floods."""
    return Key(table=Table.TENANTS, id=f"standing#{tenant}")


def standing_of(row: Row | None) -> Standing:
    return Standing() if row is None else msgspec.convert(row, Standing)


def allowance(terms: AdmissionTerms, own: TenantLimits, lane: str) -> Allowance:
    return Allowance(
        rate=Rate(per_second=own.requests_per_second or terms.requests_per_second, burst=own.burst or terms.burst),
        open_jobs=own.open_jobs or terms.open_jobs,
        cap=own.caps.get(lane, terms.caps.get(lane, MOST_SLOTS)),
    )


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A tenant that wants to hand in a job now; for one that is tried again, which has waited before, no `lane`."""

    tenant: str
    lane: str | None
    allowance: Allowance
    load: NotedLoad
    terms: AdmissionTerms
    now: datetime

    @property
    def believed(self) -> bool:
        """Whether the open jobs are known; before anything was counted, the tally alone tells of them."""
        as_of = self.load.as_of
        return as_of is None or self.now - as_of < BELIEVED_FOR

    @property
    def next_count(self) -> float:
        """Seconds until more is known of the open jobs."""
        age = timedelta(0) if self.load.as_of is None else self.now - self.load.as_of
        return self.terms.count_seconds - age.total_seconds()

    def refusal(self, standing: Standing) -> TooMany | None:
        """The first limit that is met, if one is."""
        return self._too_fast(standing) or self._too_many(standing) or self._lane_full(standing)

    def _too_fast(self, standing: Standing) -> TooMany | None:
        rate = self.allowance.rate
        microseconds_left = wait(rate, standing.full_at, microseconds(self.now))
        if not microseconds_left:
            return None
        detail = f"this tenant may submit {rate.per_second:,} a second, and {rate.burst:,} at once after a quiet time"
        return TooFast(f"{detail}: send it again, more slowly", seconds=microseconds_left / SECOND)

    def _too_many(self, standing: Standing) -> TooMany | None:
        """One that has to end frees a place after the time of a job, in as many slots as the tenant has."""
        most = self.allowance.open_jobs
        found = self.load.open_of(self.tenant) + standing.since(self.load)
        if not self.believed or found < most:
            return None
        ends = (found - most + 1) * self.terms.job_seconds / self.allowance.cap
        detail = f"this tenant may have {most:,} open jobs, and has about {found:,}, with those that have just ended"
        return TooManyOpen(f"{detail}: send it again when some are done", seconds=max(ends, self.next_count))

    def _lane_full(self, standing: Standing) -> TooMany | None:
        """Above the line go first those who have more there than they can have in flight; the others above twice."""
        line = None if self.lane is None else self.terms.lines.get(self.lane)
        if self.lane is None or line is None or not self.believed:
            return None
        own = self.load.open_of(self.tenant, self.lane) + standing.since(self.load)
        most = line if own > self.allowance.cap else 2 * line
        backlog = self.load.fair_backlog(self.lane)
        if backlog < most:
            return None
        drained = (backlog - most + 1) * self.terms.line_seconds / line
        detail = (
            f"the lane {self.lane} has more to do than it does in {self.terms.line_seconds * most // line // 60} min"
        )
        return LaneFull(f"{detail}: send it again later, or to another lane", seconds=max(drained, self.next_count))

    def write(self, standing: Standing) -> Put | Update:
        """Take a token, and count the job; conditional on what makes it so."""
        key, now = standing_key(self.tenant), microseconds(self.now)
        spent = spending(self.allowance.rate, standing.full_at, now)
        if standing.full_at is None:
            tally = {"counted_at": self.load.counted_at, "accepted": 1}
            return put(key, {"tenant": self.tenant, "full_at": spent.full_at, **tally}, absent("full_at"))
        changes: dict[str, object] = {} if spent.full_at is None else {"full_at": spent.full_at}
        adds = {"full_at": spent.adds} if spent.adds else {}
        if standing.counted_at < self.load.counted_at:
            begins = {"counted_at": self.load.counted_at, "accepted": 1}
            return update(key, (*spent.when, as_seen("counted_at", standing.counted_at)), changes | begins, add=adds)
        goes_on = (*spent.when, is_("counted_at", standing.counted_at), *self._room())
        return update(key, goes_on, changes, add=adds | {"accepted": 1})

    def _room(self) -> tuple[Condition, ...]:
        if not self.believed:
            return ()
        return (below("accepted", self.allowance.open_jobs - self.load.open_of(self.tenant)),)


def admit(store: Store, asking: Asking, standing: Standing, learn: Callable[[Standing], None]) -> None:
    """Let a job in, or refuse it. `standing` is what was known of the tenant; `learn` is told what is.

    Raises TooMany, Unavailable.
    """
    for _ in range(MOST_TRIES):
        if (refusal := asking.refusal(standing)) is not None:
            raise refusal
        try:
            learn(standing_of(store.write(asking.write(standing))))
        except Refused as refused:
            standing = standing_of(refused.old)
            learn(standing)
        else:
            return
    raise TooFast("this tenant submits so much at once that it cannot be counted: send it again", seconds=1)
