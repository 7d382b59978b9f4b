"""The load as CloudWatch metrics, in the embedded metric format: the log line is the metric."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from coatcheck.load import LaneLoad, Load

NAMESPACE = "Coatcheck"
SERVICE = "service"
"""The dimension that tells stages apart; powertools adds it by itself."""

LANE = "lane"


class Measure(StrEnum):
    """What is measured. The first two are of each lane."""

    BACKLOG = "Backlog"
    OLDEST_WAIT = "OldestWait"
    OPEN_JOBS = "OpenJobs"
    ROUNDS = "SupervisorRounds"


def tell(rounds: int, load: Load | None, lanes: Iterable[str], now: datetime) -> None:
    """The rounds are the sign of life. A lane in which nobody waits has its numbers, too: alarms come back by them."""
    metrics = EphemeralMetrics(namespace=NAMESPACE)
    metrics.add_metric(Measure.ROUNDS, MetricUnit.Count, rounds)
    if load is not None:
        metrics.add_metric(Measure.OPEN_JOBS, MetricUnit.Count, load.open_jobs)
    metrics.flush_metrics()
    if load is not None:
        for lane in sorted({*lanes, *load.lanes}):
            _tell_lane(lane, load.lanes.get(lane, LaneLoad()), now)


def _tell_lane(lane: str, load: LaneLoad, now: datetime) -> None:
    metrics = EphemeralMetrics(namespace=NAMESPACE)
    metrics.add_dimension(LANE, lane)
    metrics.add_metric(Measure.BACKLOG, MetricUnit.Count, load.backlog)
    metrics.add_metric(Measure.OLDEST_WAIT, MetricUnit.Seconds, load.oldest_wait(now).total_seconds())
    metrics.flush_metrics()
