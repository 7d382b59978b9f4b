"""The process of the AWS emulator: ministack, with alarms and schedules as AWS has them, and fed with numbers."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ministack import app
from ministack.services import cloudwatch

from coatcheck_client.local import feeder
from coatcheck_client.local.ticks import mend_schedules

KEEP_SECONDS = 3600
"""So long the emulator keeps the points of a metric. It looks at all of them with every call, two weeks of them."""


def main() -> None:
    mend_alarms()
    mend_schedules()
    feeder.start()
    app.main()


def mend_alarms() -> None:
    """Ministack's own rule takes the points of all queues and functions together, and knows no missing data."""
    cloudwatch._evaluate_alarm = evaluate  # noqa: SLF001
    cloudwatch.TWO_WEEKS_SECONDS = KEEP_SECONDS


def evaluate(alarm: dict[str, Any]) -> None:
    """Move an alarm to the state that its own metric asks for, and tell its actions."""
    dimensions = cloudwatch._dims_key({each["Name"]: each["Value"] for each in alarm["Dimensions"]})  # noqa: SLF001
    points = cloudwatch._metrics.get((alarm["Namespace"], alarm["MetricName"], dimensions)) or []  # noqa: SLF001
    new, old = judged(alarm, points, time.time()), alarm["StateValue"]
    if new in (None, old):
        return
    reason = f"{alarm['MetricName']} is {new} against {alarm['Threshold']}"
    alarm.update(StateValue=new, StateReason=reason, StateUpdatedTimestamp=int(time.time()))
    cloudwatch._record_history(alarm["AlarmName"], old, new, reason)  # noqa: SLF001
    cloudwatch._dispatch_alarm_actions(alarm, old, new, reason)  # noqa: SLF001


def judged(alarm: Mapping[str, Any], points: Sequence[Mapping[str, Any]], now: float) -> str | None:
    """The state of an alarm by the points of its metric; None if they say nothing.

    Points that are missing may be on their way: those before them count a little longer. An alarm that has had no time
    yet to see a point does not miss any.
    """
    span = alarm["Period"] * alarm["EvaluationPeriods"]
    late = [point for point in points if point["Timestamp"] > now - span - feeder.LONGEST_REST_SECONDS]
    if recent := [point for point in late if point["Timestamp"] > now - span] or late:
        value = cloudwatch._stat_value(cloudwatch._calc_stats(recent), alarm["Statistic"], recent)  # noqa: SLF001
        return "ALARM" if _breaches(value, alarm["ComparisonOperator"], alarm["Threshold"]) else "OK"
    young = now - alarm["AlarmConfigurationUpdatedTimestamp"] < span
    match alarm["TreatMissingData"]:
        case "breaching":
            return None if young else "ALARM"
        case "notBreaching":
            return "OK"
        case "missing":
            return "INSUFFICIENT_DATA"
    return None


def _breaches(value: float, comparison: str, threshold: float) -> bool:
    match comparison:
        case "GreaterThanOrEqualToThreshold":
            return value >= threshold
        case "GreaterThanThreshold":
            return value > threshold
        case "LessThanOrEqualToThreshold":
            return value <= threshold
        case "LessThanThreshold":
            return value < threshold
    raise ValueError(f"alarms are not compared by {comparison} here")


if __name__ == "__main__":
    main()
