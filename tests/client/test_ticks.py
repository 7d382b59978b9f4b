"""The emulator's schedules fire as EventBridge Scheduler's do: in their zones, with their time, once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ministack.services import lambda_svc, scheduler
from ministack.services.cloudformation import provisioners

from coatcheck_client.local import ticks
from coatcheck_client.local.ticks import due_tick, fire_due, mend_schedules

MADE = datetime(2026, 11, 10, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def schedule(expression: str, zone: str = "UTC", **changes: Any) -> dict[str, Any]:
    return {
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": zone,
        "State": "ENABLED",
        "CreationDate": MADE.timestamp(),
        "LastModificationDate": MADE.timestamp(),
    } | changes


@pytest.mark.parametrize(
    ("made", "last", "now", "due"),
    [
        (schedule("rate(1 minute)"), None, MADE, MADE),
        (schedule("rate(1 minute)"), MADE, MADE + MINUTE / 2, None),
        (schedule("rate(1 minute)"), MADE, MADE + 3.5 * MINUTE, MADE + 3 * MINUTE),
        (schedule("cron(0 18 * * ? *)", "Asia/Kolkata"), None, MADE + 31 * MINUTE, MADE + 30 * MINUTE),
        (schedule("at(2026-11-10T17:31:00)", "Asia/Kolkata"), None, MADE, None),
        (schedule("at(2026-11-10T17:31:00)", "Asia/Kolkata"), None, MADE + MINUTE, MADE + MINUTE),
        (schedule("at(2026-11-10T17:31:00)", "Asia/Kolkata"), MADE + MINUTE, MADE + 2 * MINUTE, None),
        (schedule("rate(1 minute)", State="DISABLED"), None, MADE + MINUTE, None),
        (schedule("every minute"), None, MADE + MINUTE, None),
        (schedule("rate(1 minute)", "Mars/Base"), None, MADE + MINUTE, None),
    ],
)
def test_the_newest_tick_that_is_due(
    made: dict[str, Any], last: datetime | None, now: datetime, due: datetime | None
) -> None:
    assert due_tick(made, last, now) == due


def test_what_passed_while_a_schedule_was_disabled_is_not_made_up_for() -> None:
    resumed = schedule("cron(0 * * * ? *)", LastModificationDate=(MADE + 150 * MINUTE).timestamp())
    assert due_tick(resumed, MADE, MADE + 151 * MINUTE) is None
    assert due_tick(resumed, MADE, MADE + 181 * MINUTE) == MADE + 180 * MINUTE


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Events that functions were invoked with; ministack's modules are as in the emulator's process, empty."""
    events: list[Any] = []
    monkeypatch.setattr(scheduler, "_schedules", type(scheduler._schedules)())
    monkeypatch.setattr(scheduler, "_schedule_groups", type(scheduler._schedule_groups)())
    for name in ("_tick_schedules", "_SCHEDULE_TICK_INTERVAL"):
        monkeypatch.setattr(scheduler, name, getattr(scheduler, name))
    handlers = dict(provisioners._RESOURCE_HANDLERS["AWS::Scheduler::Schedule"])
    monkeypatch.setitem(provisioners._RESOURCE_HANDLERS, "AWS::Scheduler::Schedule", handlers)
    monkeypatch.setattr(ticks, "_last", {})
    monkeypatch.setattr(lambda_svc, "_get_func_record_for_ref", lambda arn: ({"arn": arn}, {}, arn))
    monkeypatch.setattr(lambda_svc, "_execution_record_for_config", lambda function, _: function)
    monkeypatch.setattr(lambda_svc, "invoke_async_with_retry", lambda function, event: events.append((function, event)))
    mend_schedules()
    return events


def deploy(**properties: Any) -> str:
    """Make a schedule as CloudFormation does."""
    target = {"Arn": "ticker", "RoleArn": "role", "Input": '{"at": "<aws.scheduler.scheduled-time>"}'}
    common = {"Name": "nightly", "FlexibleTimeWindow": {"Mode": "OFF"}, "Target": target}
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Scheduler::Schedule"]
    return str(handlers["create"]("Nightly", common | properties, "stack")[0])


def test_a_tick_is_fired_once_with_its_time_in_the_event(fired: list[Any]) -> None:
    deploy(ScheduleExpression="rate(1 hour)")
    begun = datetime.fromtimestamp(scheduler._schedules["default/nightly"]["CreationDate"], UTC)
    for minutes in (0, 1, 59, 61, 62):
        fire_due(begun + minutes * MINUTE)
    times = [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in (begun, begun + 60 * MINUTE)]
    assert fired == [({"arn": "ticker"}, {"at": time}) for time in times]


def test_a_template_says_the_zone(fired: list[Any]) -> None:
    deploy(ScheduleExpression="cron(30 2 * * ? *)", ScheduleExpressionTimezone="Asia/Kolkata")
    assert scheduler._schedules["default/nightly"]["ScheduleExpressionTimezone"] == "Asia/Kolkata"


def test_a_schedule_that_is_made_anew_under_its_name_fires_anew(fired: list[Any]) -> None:
    soon = datetime.now(UTC) + MINUTE
    for _ in range(2):
        deploy(ScheduleExpression=f"at({soon:%Y-%m-%dT%H:%M:%S})")
        for _ in range(2):
            fire_due(soon)
        scheduler._schedules.clear()
    assert len(fired) == 2
