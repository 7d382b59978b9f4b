"""Capacity: what is expected, what the source and the API let in, and the lanes that share the workers that follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf

from coatcheck.run.settings import Issuer
from infra.sizing import LEAST_CONCURRENCY_OF_A_MAPPING, busy_workers, slots_needed, source_slots


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is expected to arrive, from which the number of workers follows."""

    arrivals_per_second: float
    mean_duration_seconds: float
    target_utilisation: float

    def __post_init__(self) -> None:
        if not (0 < self.arrivals_per_second < inf and 0 < self.mean_duration_seconds < inf):
            raise ValueError("arrivals_per_second and mean_duration_seconds are above 0")
        if not 0 < self.target_utilisation <= 1:
            raise ValueError(f"target_utilisation is {self.target_utilisation}, not above 0 and at most 1")

    @property
    def busy(self) -> float:
        """Workers that are at work on average."""
        return busy_workers(arrivals_per_second=self.arrivals_per_second, duration_seconds=self.mean_duration_seconds)

    @property
    def slots(self) -> int:
        """Workers that are busy for `target_utilisation` of the time under this load."""
        return slots_needed(busy=self.busy, target_utilisation=self.target_utilisation)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The PostgreSQL that kinds read from. Where its workers are paced, it bounds how many there are."""

    secret_arn: str | None = None
    """A Secrets Manager secret in the format of RDS; the way to the database is the lanes' `network`."""

    url: str | None = None
    """Instead of a secret, on this machine alone: it would stand in the template."""

    rows_per_second: int | None = None
    """What the database can serve to all workers together."""

    rows_per_second_per_worker: int | None = None

    def __post_init__(self) -> None:
        if self.slots == 0:
            raise ValueError("rows_per_second is less than rows_per_second_per_worker: no worker could read")

    @property
    def slots(self) -> int | None:
        """How many paced workers the database can serve."""
        if self.rows_per_second is None or self.rows_per_second_per_worker is None:
            return None
        return source_slots(
            rows_per_second=self.rows_per_second, rows_per_second_per_worker=self.rows_per_second_per_worker
        )


@dataclass(frozen=True, kw_only=True)
class ApiConfig:
    requests_per_second: int
    request_burst: int
    authorizer_cache_seconds: int
    """Between 0 and 60: a revoked key works for so long, and a poll costs no lookup for so long."""

    issuer: Issuer | None = None
    """Whose tokens are taken beside API keys: any OpenID Connect issuer. The tenant is what a claim of theirs says."""

    waiters: int
    """How many answers may be held at once. Reserved, so that they never take what submits and workers need."""

    def __post_init__(self) -> None:
        if not 0 <= self.authorizer_cache_seconds <= 60:
            raise ValueError(f"authorizer_cache_seconds is {self.authorizer_cache_seconds}, not within 0 and 60")


@dataclass(frozen=True, kw_only=True)
class AdmissionConfig:
    """What each tenant may hand in, unless it has limits of its own: docs/limits.md."""

    requests_per_second: int = 10
    burst: int = 50
    """Requests at once, after a quiet time."""

    open_jobs: int = 5000


@dataclass(frozen=True, kw_only=True)
class Network:
    """Private subnets and a security group with a way to the source and to the AWS services."""

    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FunctionSize:
    memory_mb: int
    timeout_seconds: int


@dataclass(frozen=True, kw_only=True)
class LaneConfig:
    """A queue and its worker function. A team adds its own lane by adding one of these."""

    name: str
    share: int
    """Parts of all slots that this lane gets, in proportion to the other lanes' shares."""

    size: FunctionSize
    visibility_margin_seconds: int
    """How much longer than the worker's timeout a message stays hidden before the worker has claimed its job."""

    cap_per_tenant: int | None
    """How many jobs of one tenant may be in flight at once, 100 at most; None for as many as there are."""

    oldest_wait_alarm_seconds: int
    """For how long a job that could run may wait before somebody is woken."""

    network: Network | None = None
    layer_arns: tuple[str, ...] = ()

    @property
    def visibility_seconds(self) -> int:
        return self.size.timeout_seconds + self.visibility_margin_seconds


def split(slots: int, lanes: Sequence[LaneConfig]) -> dict[str, int]:
    """Slots of each lane by its name. They add up to `slots` where no lane needs the service's minimum of 2."""
    shares = list(accumulate((lane.share for lane in lanes), initial=0))
    borders = [round(slots * share / shares[-1]) for share in shares]
    return {
        lane.name: max(LEAST_CONCURRENCY_OF_A_MAPPING, after - before)
        for lane, (before, after) in zip(lanes, pairwise(borders), strict=True)
    }
