"""Every number of a deployment, per stage; capacity is derived from the load, never guessed."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from coatcheck.schedule import Schedule
from coatcheck.timings import Timings
from infra.alarm_config import AlarmConfig
from infra.capacity import AdmissionConfig, ApiConfig, FunctionSize, LaneConfig, Load, Source, split
from infra.sizing import MOST_CONCURRENCY_OF_A_MAPPING, drain_line


class Stage(StrEnum):
    """Where a stack runs: the emulator on this machine, or an AWS account for trying or for real."""

    LOCAL = "local"
    DEV = "dev"
    PROD = "prod"


@dataclass(frozen=True, kw_only=True)
class StreamConfig:
    """How the stream of the jobs table reaches each of the two that read it."""

    batch_size: int = 25
    parallelization_factor: int = 10
    maximum_retry_attempts: int = 5
    keep_lost_records_days: int = 30


@dataclass(frozen=True, kw_only=True)
class QueueConfig:
    """The queues that are not lanes, and how long any queue keeps what nobody takes."""

    wake_visibility_seconds: int
    unstarted_visibility_seconds: int
    wake_batch_size: int = 10
    wake_maximum_concurrency: int = 10
    unstarted_maximum_concurrency: int = 2
    maximum_receive_count: int = 10
    keep_lane_days: int = 4
    keep_dead_letters_days: int = 14
    keep_wake_hours: int = 1
    """A wake message is a hint; what it was about is `due` in its row long before."""


@dataclass(frozen=True, kw_only=True)
class TickConfig:
    """What becomes of a schedule's tick that cannot be taken. Before that, EventBridge Scheduler tries for a day."""

    retry_attempts: int = 2
    """Lambda's most, one and two minutes later; what it has no room for comes again and again."""

    try_for_seconds: int = 6 * 3600
    keep_lost_days: int = 14


@dataclass(frozen=True, kw_only=True)
class Config:
    """One stage of Coatcheck."""

    stage: Stage
    timings: Timings
    load: Load
    source: Source
    lanes: tuple[LaneConfig, ...]
    api: ApiConfig
    queues: QueueConfig
    api_function: FunctionSize
    waiter_function: FunctionSize
    """Its timeout is the gateway's 30 seconds at most: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html"""

    ring_function: FunctionSize
    """The dispatcher, the wake function and the one for unstarted messages."""

    supervisor_function: FunctionSize
    log_retention: str
    """A name of CDK's RetentionDays; `coatcheck plan` reads this file, and CDK takes a second to import."""

    stream: StreamConfig = field(default_factory=StreamConfig)
    alarms: AlarmConfig = field(default_factory=AlarmConfig)
    ticks: TickConfig = field(default_factory=TickConfig)
    schedules: tuple[Schedule, ...] = ()
    """Those that a deployment makes, beside those that `coatcheck schedules create` makes: docs/schedules.md."""

    admission: AdmissionConfig = field(default_factory=AdmissionConfig)
    lane_line_minutes: int = 15
    keep_access_logs_days: int = 90
    log_level: str = "INFO"

    def __post_init__(self) -> None:
        for lane in self.lanes:
            if not 1 <= lane.size.timeout_seconds <= 900:
                raise ValueError(f"lane {lane.name}: a function runs for 1 to 900 seconds")
        for name, slots in self.maximum_concurrency.items():
            if slots > MOST_CONCURRENCY_OF_A_MAPPING:
                raise ValueError(
                    f"lane {name}: {slots:,} slots, and a mapping has {MOST_CONCURRENCY_OF_A_MAPPING:,} at most: "
                    "split it into several lanes (docs/capacity.md)"
                )

    @property
    def is_local(self) -> bool:
        return self.stage is Stage.LOCAL

    @property
    def slots(self) -> int:
        """All lanes' workers together: what the load asks for, as far as the source can serve it."""
        return min(self.load.slots, self.source.slots or self.load.slots)

    @property
    def maximum_concurrency(self) -> dict[str, int]:
        """Slots of each lane by its name."""
        return split(self.slots, self.lanes)

    @property
    def caps(self) -> dict[str, int]:
        """How many jobs of a tenant may be in flight at once, by lane; lanes without a cap are not in it."""
        return {lane.name: lane.cap_per_tenant for lane in self.lanes if lane.cap_per_tenant is not None}

    @property
    def lane_lines(self) -> dict[str, int]:
        """How many jobs each lane drains in `lane_line_minutes`: what waits beyond that waits for too long."""
        mean = self.load.mean_duration_seconds
        return {
            name: drain_line(slots, mean, self.lane_line_minutes) for name, slots in self.maximum_concurrency.items()
        }

    @property
    def keep_results_days(self) -> int:
        """A day longer than promised, since S3 counts from midnight to midnight."""
        return self.timings.keep_result.days + 1

    @property
    def keep_cursors_days(self) -> int:
        """As long as a job can live and its row stays."""
        return (self.timings.give_up_after + self.timings.keep_row).days + 1


def _lanes(*, worker: FunctionSize, visibility_margin_seconds: int) -> tuple[LaneConfig, ...]:
    return (
        LaneConfig(
            name="interactive",
            share=4,
            size=worker,
            visibility_margin_seconds=visibility_margin_seconds,
            cap_per_tenant=3,
            oldest_wait_alarm_seconds=300,
        ),
        LaneConfig(
            name="bulk",
            share=1,
            size=worker,
            visibility_margin_seconds=visibility_margin_seconds,
            cap_per_tenant=10,
            oldest_wait_alarm_seconds=3600,
        ),
    )


# Memory buys processor time: 1,769 MB are one whole processor, which a worker that compresses needs.
_AWS_LANES = _lanes(worker=FunctionSize(memory_mb=1769, timeout_seconds=900), visibility_margin_seconds=60)

_PROD = Config(
    stage=Stage.PROD,
    timings=Timings(),
    # The evening before a filing deadline: 1,800 sellers an hour, 2 minutes each.
    load=Load(arrivals_per_second=0.5, mean_duration_seconds=120, target_utilisation=0.7),
    source=Source(rows_per_second=1_000_000, rows_per_second_per_worker=10_000),
    lanes=_AWS_LANES,
    api=ApiConfig(requests_per_second=2000, request_burst=4000, authorizer_cache_seconds=60, waiters=200),
    queues=QueueConfig(wake_visibility_seconds=180, unstarted_visibility_seconds=180),
    api_function=FunctionSize(memory_mb=1024, timeout_seconds=10),
    waiter_function=FunctionSize(memory_mb=512, timeout_seconds=30),
    ring_function=FunctionSize(memory_mb=512, timeout_seconds=30),
    supervisor_function=FunctionSize(memory_mb=512, timeout_seconds=120),
    log_retention="THREE_MONTHS",
)

_DEV = Config(
    stage=Stage.DEV,
    timings=Timings(),
    load=Load(arrivals_per_second=0.05, mean_duration_seconds=120, target_utilisation=0.7),
    source=Source(rows_per_second=200_000, rows_per_second_per_worker=10_000),
    lanes=_AWS_LANES,
    api=ApiConfig(requests_per_second=200, request_burst=400, authorizer_cache_seconds=60, waiters=20),
    queues=QueueConfig(wake_visibility_seconds=180, unstarted_visibility_seconds=180),
    api_function=FunctionSize(memory_mb=1024, timeout_seconds=10),
    waiter_function=FunctionSize(memory_mb=512, timeout_seconds=30),
    ring_function=FunctionSize(memory_mb=512, timeout_seconds=30),
    supervisor_function=FunctionSize(memory_mb=512, timeout_seconds=120),
    log_retention="TWO_WEEKS",
)

_LOCAL = Config(
    stage=Stage.LOCAL,
    timings=Timings(
        lease=timedelta(seconds=6),
        beat=timedelta(seconds=1.5),
        message_margin=timedelta(seconds=1),
        lease_grace=timedelta(seconds=1),
        source_lag=timedelta(seconds=1),
        stall=timedelta(seconds=15),
        answer_within=timedelta(seconds=3),
        yield_before=timedelta(seconds=10),
        hard_stop_before=timedelta(seconds=3),
        retry_delays=tuple(timedelta(seconds=wait) for wait in (1, 2, 4, 4)),
        due_grace=timedelta(seconds=5),
        ring_again=timedelta(seconds=90),
        give_back=timedelta(seconds=2),
        supervise_every=timedelta(seconds=2),
    ),
    load=Load(arrivals_per_second=1, mean_duration_seconds=7, target_utilisation=0.7),
    source=Source(),
    lanes=_lanes(worker=FunctionSize(memory_mb=1769, timeout_seconds=60), visibility_margin_seconds=5),
    api=ApiConfig(requests_per_second=2000, request_burst=4000, authorizer_cache_seconds=60, waiters=8),
    queues=QueueConfig(wake_visibility_seconds=15, unstarted_visibility_seconds=15),
    api_function=FunctionSize(memory_mb=1024, timeout_seconds=10),
    waiter_function=FunctionSize(memory_mb=512, timeout_seconds=30),
    ring_function=FunctionSize(memory_mb=512, timeout_seconds=10),
    supervisor_function=FunctionSize(memory_mb=512, timeout_seconds=70),
    log_retention="ONE_DAY",
    # One tenant is here as much as all of them elsewhere: benchmarks, floods and whoever tries things out.
    admission=AdmissionConfig(requests_per_second=2000, burst=10_000, open_jobs=100_000),
    stream=StreamConfig(parallelization_factor=1),
    alarms=AlarmConfig(period_seconds=10),
)

CONFIGS = {config.stage: config for config in (_LOCAL, _DEV, _PROD)}


def configured(context: Callable[[str], str | None]) -> Config:
    """The configuration that CDK's context asks for: `stage`, and on this machine `source_url` and its pace."""
    config = CONFIGS[Stage(context("stage") or Stage.DEV)]
    if not config.is_local:
        return config
    pace = context("source_rows_per_second")
    source = replace(config.source, url=context("source_url"), rows_per_second_per_worker=int(pace) if pace else None)
    return replace(config, source=source)
