"""What to do where a plan meets a limit, in its own numbers."""

from collections.abc import Iterator

from coatcheck_client.plan import Bound, LanePlan, Plan
from infra.sizing import IN_FLIGHT_OF_A_QUEUE, MOST_CONCURRENCY_OF_A_MAPPING, UNRESERVED_CONCURRENCY, queues_needed

VCPUS_OF_A_TASK = 16
"""The most that a Fargate task has:
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html"""

QUOTA_STEP = 100


def advice(plan: Plan) -> Iterator[str]:
    """What to do about each limit that the plan does not keep; nothing if it keeps all."""
    split = [(name, lane) for name, lane in plan.lanes.items() if lane.mappings > 1]
    yield from _source(plan)
    for name, lane in split:
        yield _lanes(name, lane)
    yield from _account(plan)
    for _, lane in split:
        yield _containers(lane)


def _source(plan: Plan) -> Iterator[str]:
    if plan.source is None:
        return
    if plan.slots < plan.busy_workers:
        left = (plan.load.arrivals_per_second - plan.slots / plan.load.mean_duration_seconds) * 3600
        yield (
            f"The source serves {plan.slots:,} of the {plan.busy_workers:,.0f} workers that this load keeps busy: the "
            f"backlog grows by {left:,.0f} jobs an hour and never drains. Let the source serve more (a read replica), "
            "or let a job read less; more workers or a slower pace do not help."
        )
    elif plan.bound is Bound.SOURCE:
        yield (
            f"The source serves {plan.slots:,} workers, not {plan.slots_for_load:,}: they are busy for "
            f"{plan.utilisation:.0%} of the time, not {plan.load.target_utilisation:.0%}, and jobs wait when many come "
            "at once. Let the source serve more (a read replica), or let a job read less."
        )
    if (workers := plan.at_once["workers"]) > plan.source.slots:
        yield (
            f"No lane can have fewer than 2 slots, so {workers:,} workers read from a source that serves "
            f"{plan.source.slots:,}: have fewer lanes, or a slower pace."
        )


def _lanes(name: str, lane: LanePlan) -> str:
    many = lane.mappings
    return (
        f"{lane.slots:,} slots exceed the {MOST_CONCURRENCY_OF_A_MAPPING:,} of one event source mapping. Split them "
        f"into {many:,} lanes of {lane.maximum_concurrency:,} slots, {name}-0 to {name}-{many - 1}: one LaneConfig "
        "each in infra/config.py, with equal shares, is a queue, its mapping and its worker. Submit a job to the lane "
        f"{name}-N with N = crc32(id) mod {many:,}, where id is what the jobs of one arrival have in common, such as "
        "the upload's."
    )


def _account(plan: Plan) -> Iterator[str]:
    total = sum(plan.at_once.values())
    needed = total + UNRESERVED_CONCURRENCY
    if needed > plan.account_concurrency:
        yield (
            f"Ask for {-(-needed // QUOTA_STEP) * QUOTA_STEP:,} concurrent executions, before the day when they are "
            f"needed (Service Quotas, AWS Lambda; the account has {plan.account_concurrency:,}): {total:,} for the "
            f"functions above and {UNRESERVED_CONCURRENCY:,} for those of the API are {needed:,}."
        )


def _containers(lane: LanePlan) -> str:
    tasks, queues = -(-lane.slots // VCPUS_OF_A_TASK), queues_needed(lane.slots)
    feed = "one feeds" if queues == 1 else f"{queues:,} feed"
    return (
        f"Or, instead of Lambda, run this work in containers (ECS, AWS Batch): {lane.slots:,} workers with a vCPU each "
        f"are {tasks:,} tasks of {VCPUS_OF_A_TASK} vCPU. A queue can have {IN_FLIGHT_OF_A_QUEUE:,} messages in flight, "
        f"so {feed} them all."
    )
