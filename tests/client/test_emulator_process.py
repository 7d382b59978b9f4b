"""The emulator's alarms are judged by their own metric alone, and by what is missing, as CloudWatch judges them."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from ministack.services import cloudwatch

from coatcheck_client.local.emulator_process import judged, mend_alarms

ALARM = {
    "Period": 60,
    "EvaluationPeriods": 1,
    "Statistic": "Maximum",
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "Threshold": 3.0,
    "TreatMissingData": "notBreaching",
    "AlarmConfigurationUpdatedTimestamp": 0,
}
SILENT = ALARM | {
    "Statistic": "Sum",
    "ComparisonOperator": "LessThanThreshold",
    "Threshold": 1.0,
    "TreatMissingData": "breaching",
}
NOW = 1000.0


def points(**values: float) -> list[dict[str, Any]]:
    """Points by their age: `s5=1` is a 1 of five seconds ago."""
    return [{"Timestamp": NOW - float(age[1:]), "Value": value} for age, value in values.items()]


@pytest.mark.parametrize(
    ("alarm", "seen", "state"),
    [
        (ALARM, points(s50=1, s40=3, s5=0), "ALARM"),
        (ALARM, points(s50=1, s40=2, s5=0), "OK"),
        (ALARM, points(s61=9, s5=0), "OK"),
        (ALARM, points(s69=9), "ALARM"),
        (ALARM, [], "OK"),
        (ALARM | {"Statistic": "Sum"}, points(s50=1, s40=1, s5=1), "ALARM"),
        (ALARM | {"TreatMissingData": "ignore"}, points(s71=9), None),
        (ALARM | {"TreatMissingData": "missing"}, points(s71=9), "INSUFFICIENT_DATA"),
        (SILENT, points(s59=1), "OK"),
        (SILENT, points(s71=1), "ALARM"),
        (SILENT, points(s5=0), "ALARM"),
        (SILENT | {"AlarmConfigurationUpdatedTimestamp": NOW - 59}, [], None),
    ],
)
def test_the_last_period_decides_and_what_is_missing_counts_as_the_alarm_says(
    alarm: dict[str, Any], seen: list[dict[str, Any]], state: str | None
) -> None:
    assert judged(alarm, seen, NOW) == state


@pytest.fixture
def _mended() -> Iterator[None]:
    """Ministack's module as it is in the emulator's process, empty."""
    names = ("_evaluate_alarm", "TWO_WEEKS_SECONDS", "_alarms", "_metrics", "_alarm_history")
    before = {name: getattr(cloudwatch, name) for name in names}
    for name in ("_alarms", "_metrics", "_alarm_history"):
        setattr(cloudwatch, name, type(before[name])())
    mend_alarms()
    yield
    for name, value in before.items():
        setattr(cloudwatch, name, value)


def call(action: str, **body: Any) -> Any:
    """A call of the CloudWatch API."""
    headers = {"x-amz-target": f"GraniteServiceVersion20100801.{action}", "content-type": "application/json"}
    status, _, answer = asyncio.run(cloudwatch.handle_request("POST", "/", headers, json.dumps(body).encode(), {}))
    assert status == 200
    return json.loads(answer or b"{}")


def put(queue: str, value: float) -> None:
    dimensions = [{"Name": "QueueName", "Value": queue}]
    datum = {"MetricName": "Depth", "Dimensions": dimensions, "Value": value, "Timestamp": time.time()}
    call("PutMetricData", Namespace="AWS/SQS", MetricData=[datum])


@pytest.mark.usefixtures("_mended")
def test_an_alarm_looks_at_its_own_queue_and_at_no_other() -> None:
    for queue in ("full", "empty"):
        dimensions = [{"Name": "QueueName", "Value": queue}]
        alarm = {name: value for name, value in ALARM.items() if name != "AlarmConfigurationUpdatedTimestamp"}
        call("PutMetricAlarm", AlarmName=queue, Namespace="AWS/SQS", MetricName="Depth", Dimensions=dimensions, **alarm)
    put("full", 7)
    put("empty", 0)
    states = {alarm["AlarmName"]: alarm["StateValue"] for alarm in call("DescribeAlarms")["MetricAlarms"]}
    assert states == {"full": "ALARM", "empty": "OK"}
    changes = call("DescribeAlarmHistory", AlarmName="full")["AlarmHistoryItems"]
    assert any("ALARM" in change["HistorySummary"] for change in changes)
