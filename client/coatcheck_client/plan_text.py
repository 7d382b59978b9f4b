"""A plan as people read it: each number with how it comes about."""

from collections.abc import Iterator
from math import isinf

from coatcheck.load import LONGEST_POLL_SECONDS, SHORTEST_POLL_SECONDS
from coatcheck_client.plan import LanePlan, Plan
from coatcheck_client.plan_advice import advice
from infra.sizing import (
    IN_FLIGHT_OF_A_QUEUE,
    LEAST_CONCURRENCY_OF_A_MAPPING,
    MOST_CONCURRENCY_OF_A_MAPPING,
    large_pool_utilisation,
)


def lines(plan: Plan) -> Iterator[str]:
    """The reasoning, line by line, and what to do."""
    yield plan.of
    last = ""
    for name, text in _reasoning(plan):
        yield f"  {'' if name == last else name:<9} {text}"
        last = name
    todo = list(advice(plan))
    yield "what to do" if todo else "nothing to do: it fits into one mapping for each lane, and into the account"
    for text in todo:
        yield f"  * {text}"


def _reasoning(plan: Plan) -> Iterator[tuple[str, str]]:
    rate, mean = number(plan.load.arrivals_per_second), number(plan.load.mean_duration_seconds)
    yield "arrivals", _arrivals(plan)
    yield "busy", f"{rate}/s × {mean} s = {number(plan.busy_workers)} workers at work on average (Little's law)"
    yield "slots", _slots(plan)
    yield "source", _source(plan)
    for name, lane in plan.lanes.items():
        yield "lanes", f"{name}: {_lane(lane)}"
    if (workers := plan.at_once["workers"]) > plan.slots:
        least = LEAST_CONCURRENCY_OF_A_MAPPING
        yield "lanes", f"{workers:,} slots together, not {plan.slots:,}: no lane can have fewer than {least}"
    yield "account", _account(plan)
    for name, lane in plan.lanes.items():
        within = f"{lane.line_jobs:,} jobs drain in {plan.line_minutes} min"
        yield "line", f"{name}: {lane.slots:,} × {plan.line_minutes * 60} s ÷ {mean} s = {within}"
    for name, lane in plan.lanes.items():
        yield "backlog", f"{name}: {plan.backlog:,} jobs × {mean} s ÷ {lane.slots:,} = {_drain(lane)}"
    yield "polls", _polls(plan)
    yield "fan-out", _fan_out(plan)
    yield "crash", _crash(plan)


def _arrivals(plan: Plan) -> str:
    jobs = f" × {plan.jobs_per_arrival:,} jobs" if plan.jobs_per_arrival > 1 else ""
    return f"{number(plan.arrivals_per_hour)} an hour{jobs} ÷ 3,600 s = {number(plan.load.arrivals_per_second)} jobs/s"


def _slots(plan: Plan) -> str:
    target = plan.load.target_utilisation
    large = target == large_pool_utilisation(busy=plan.busy_workers, at_least=0)
    why = " (so large a pool needs few to spare)" if large else ""
    return f"{number(plan.busy_workers)} ÷ {target:g} target utilisation{why} = {plan.slots_for_load:,}"


def _source(plan: Plan) -> str:
    source = plan.source
    if source is None:
        return f"it is not told what the source can serve, so the load decides: {plan.slots:,} slots"
    served = f"{source.slots:,} workers at once"
    if source.rows_per_second is not None:
        served = f"{source.rows_per_second:,} rows/s ÷ {source.rows_per_second_per_worker:,} rows/s each = {served}"
    return f"{served}, so the {plan.bound} decides: {plan.slots:,} slots"


def _lane(lane: LanePlan) -> str:
    most, each = f"{MOST_CONCURRENCY_OF_A_MAPPING:,}", f"{lane.maximum_concurrency:,}"
    in_flight = f"{each} of a queue's {IN_FLIGHT_OF_A_QUEUE:,} messages in flight"
    if lane.mappings == 1:
        return f"MaximumConcurrency {each} of a mapping's {most}; {in_flight}"
    return (
        f"{lane.slots:,} slots exceed one mapping's {most}: {lane.mappings:,} mappings with MaximumConcurrency {each}; "
        f"{in_flight}"
    )


def _account(plan: Plan) -> str:
    parts = " + ".join(f"{count:,} {name}" for name, count in plan.at_once.items())
    total = sum(plan.at_once.values())
    rest = plan.account_concurrency - total
    left = f"{rest:,} are left for the API and the stream" if rest >= 0 else f"{-rest:,} too many"
    return f"{parts} = {total:,} at once of {plan.account_concurrency:,}: {left}"


def _drain(lane: LanePlan) -> str:
    meanwhile = lane.drain_seconds_with_arrivals
    then = "it never drains" if isinf(meanwhile) else spoken(meanwhile)
    return f"{spoken(lane.drain_seconds)}; while {number(lane.arrivals_per_second)}/s go on to come, {then}"


def _polls(plan: Plan) -> str:
    polls = plan.polls
    return (
        f"{polls.open_jobs:,} open jobs (slots and backlog) ÷ {polls.target_per_second:,} polls/s, within "
        f"{SHORTEST_POLL_SECONDS} and {LONGEST_POLL_SECONDS} s: Retry-After {polls.retry_after_seconds} s, "
        f"{number(polls.per_second)} polls/s"
    )


def _fan_out(plan: Plan) -> str:
    fan_out = plan.fan_out
    rounds = "1 round" if fan_out.rounds == 1 else f"{fan_out.rounds:,} rounds"
    return (
        f"{fan_out.chunks:,} chunks × {number(fan_out.chunk_seconds)} s ÷ {fan_out.concurrency:,} at once beside the "
        f"lanes = {rounds}, {spoken(fan_out.seconds)}"
    )


def _crash(plan: Plan) -> str:
    crash = plan.crash
    apart, (soonest, latest) = number(crash.checkpoint_seconds), crash.back_after_seconds
    return (
        f"checkpoints {apart} s apart: up to {apart} s of work lost, {number(crash.expected_loss_seconds)} s on "
        f"average; another worker takes over after {number(soonest)} to {number(latest)} s"
    )


def number(value: float) -> str:
    """As many digits as matter, and no more."""
    if abs(value) < 1:
        return f"{value:.3g}"
    text = f"{value:,.1f}" if abs(value) >= 100 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")


def spoken(seconds: float) -> str:
    """A duration in the two largest units that it has."""
    if seconds < 60:
        return f"{number(seconds)} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
