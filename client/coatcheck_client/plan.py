"""A plan: what follows from a load, number by number."""

from dataclasses import dataclass
from enum import StrEnum

from coatcheck.load import poll_seconds
from infra.capacity import Load
from infra.config import Config
from infra.sizing import (
    LEAST_CONCURRENCY_OF_A_MAPPING,
    MOST_CONCURRENCY_OF_A_MAP,
    drain_line,
    drain_seconds,
    fan_out_rounds,
    fan_out_seconds,
    mappings_needed,
    polls_per_second,
    seconds_lost,
    takeover_seconds,
)


class Bound(StrEnum):
    """What decides how many slots there are."""

    LOAD = "load"
    SOURCE = "source"


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked beside the load. None stands for what the stage makes of it."""

    backlog: int
    chunks: int
    account_concurrency: int
    chunk_seconds: float | None = None
    chunk_concurrency: int | None = None
    checkpoint_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class SourcePlan:
    slots: int
    rows_per_second: int | None = None
    rows_per_second_per_worker: int | None = None


@dataclass(frozen=True, kw_only=True)
class LanePlan:
    slots: int
    mappings: int
    maximum_concurrency: int
    """Of each mapping."""

    line_jobs: int
    """How many jobs may wait before one of them waits for longer than `Plan.line_minutes`."""

    arrivals_per_second: float
    """The lane's part, as it has a part of the slots."""

    drain_seconds: float
    """For how long the backlog lasts if nothing else comes."""

    drain_seconds_with_arrivals: float
    """And if jobs go on to come; infinite (in JSON null) if it does not shrink then."""


@dataclass(frozen=True, kw_only=True)
class PollPlan:
    open_jobs: int
    retry_after_seconds: int
    per_second: float
    target_per_second: int


@dataclass(frozen=True, kw_only=True)
class FanOutPlan:
    chunks: int
    chunk_seconds: float
    concurrency: int
    rounds: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class CrashPlan:
    checkpoint_seconds: float
    expected_loss_seconds: float
    back_after_seconds: tuple[float, float]
    """The shortest and the longest time until a worker that lives can take over."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    of: str
    arrivals_per_hour: float
    jobs_per_arrival: int
    load: Load
    busy_workers: float
    slots_for_load: int
    source: SourcePlan | None
    slots: int
    bound: Bound
    utilisation: float
    lanes: dict[str, LanePlan]
    line_minutes: int
    backlog: int
    at_once: dict[str, int]
    """Functions whose number is known. Those of the API and the stream's readers come on top."""

    account_concurrency: int
    polls: PollPlan
    fan_out: FanOutPlan
    crash: CrashPlan


def stage_plan(config: Config, questions: Questions) -> Plan:
    """What the stage's own numbers come to."""
    source = config.source
    return _plan(
        config,
        questions,
        of=config.stage,
        load=config.load,
        jobs_per_arrival=1,
        slots=config.slots,
        lanes=config.maximum_concurrency,
        source=None
        if source.slots is None
        else SourcePlan(
            slots=source.slots,
            rows_per_second=source.rows_per_second,
            rows_per_second_per_worker=source.rows_per_second_per_worker,
        ),
    )


def what_if(
    config: Config, questions: Questions, *, load: Load, jobs_per_arrival: int, source_workers: int | None
) -> Plan:
    """What another load would come to, in a lane of its own and with the stage's other numbers."""
    slots = min(load.slots, source_workers or load.slots)
    return _plan(
        config,
        questions,
        of="what-if",
        load=load,
        jobs_per_arrival=jobs_per_arrival,
        slots=slots,
        lanes={"what-if": max(LEAST_CONCURRENCY_OF_A_MAPPING, slots)},
        source=None if source_workers is None else SourcePlan(slots=source_workers),
    )


def _plan(
    config: Config,
    questions: Questions,
    *,
    of: str,
    load: Load,
    jobs_per_arrival: int,
    slots: int,
    lanes: dict[str, int],
    source: SourcePlan | None,
) -> Plan:
    return Plan(
        of=of,
        arrivals_per_hour=load.arrivals_per_second * 3600 / jobs_per_arrival,
        jobs_per_arrival=jobs_per_arrival,
        load=load,
        busy_workers=load.busy,
        slots_for_load=load.slots,
        source=source,
        slots=slots,
        bound=Bound.SOURCE if slots < load.slots else Bound.LOAD,
        utilisation=load.busy / slots,
        lanes={
            name: _lane(part, load, load.arrivals_per_second * part / sum(lanes.values()), config, questions.backlog)
            for name, part in lanes.items()
        },
        line_minutes=config.lane_line_minutes,
        backlog=questions.backlog,
        at_once={
            "workers": sum(lanes.values()),
            "waiter": config.api.waiters,
            "wake": config.queues.wake_maximum_concurrency,
            "unstarted": config.queues.unstarted_maximum_concurrency,
        },
        account_concurrency=questions.account_concurrency,
        polls=_polls(questions.backlog + slots, config.timings.polls_per_second),
        fan_out=_fan_out(questions, load, sum(lanes.values()), source),
        crash=_crash(questions, config),
    )


def _lane(slots: int, load: Load, arrivals_per_second: float, config: Config, backlog: int) -> LanePlan:
    mean, mappings = load.mean_duration_seconds, mappings_needed(slots)
    return LanePlan(
        slots=slots,
        mappings=mappings,
        maximum_concurrency=-(-slots // mappings),
        line_jobs=drain_line(slots, mean, config.lane_line_minutes),
        arrivals_per_second=arrivals_per_second,
        drain_seconds=drain_seconds(backlog=backlog, slots=slots, duration_seconds=mean),
        drain_seconds_with_arrivals=drain_seconds(
            backlog=backlog, slots=slots, duration_seconds=mean, arrivals_per_second=arrivals_per_second
        ),
    )


def _polls(open_jobs: int, target_per_second: int) -> PollPlan:
    wait = poll_seconds(open_jobs, target_per_second)
    return PollPlan(
        open_jobs=open_jobs,
        retry_after_seconds=wait,
        per_second=polls_per_second(open_jobs=open_jobs, poll_seconds=wait),
        target_per_second=target_per_second,
    )


def _fan_out(questions: Questions, load: Load, workers: int, source: SourcePlan | None) -> FanOutPlan:
    """Chunks run beside the lanes' workers: what those leave of the source, else as many again."""
    seconds = questions.chunk_seconds or load.mean_duration_seconds
    concurrency = questions.chunk_concurrency or (
        max(1, source.slots - workers) if source else min(workers, MOST_CONCURRENCY_OF_A_MAP)
    )
    return FanOutPlan(
        chunks=questions.chunks,
        chunk_seconds=seconds,
        concurrency=concurrency,
        rounds=fan_out_rounds(chunks=questions.chunks, concurrency=concurrency),
        seconds=fan_out_seconds(chunks=questions.chunks, chunk_seconds=seconds, concurrency=concurrency),
    )


def _crash(questions: Questions, config: Config) -> CrashPlan:
    """A kind that is asked to stop must come to a checkpoint in time, so that is how far apart they are at most."""
    timings = config.timings
    longest = min(timings.answer_within, timings.yield_before - timings.hard_stop_before).total_seconds()
    seconds = questions.checkpoint_seconds or longest
    return CrashPlan(
        checkpoint_seconds=seconds,
        expected_loss_seconds=seconds_lost(checkpoint_seconds=seconds),
        back_after_seconds=takeover_seconds(
            lease_seconds=timings.lease.total_seconds(),
            beat_seconds=timings.beat.total_seconds(),
            margin_seconds=timings.message_margin.total_seconds(),
        ),
    )
