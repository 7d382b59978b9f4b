"""Schedules as the command keeps them in EventBridge Scheduler: nothing of one is lost by a pause or a change."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from coatcheck.schedule import Origin, Schedule
from coatcheck_client import schedules
from coatcheck_client.api import Unsendable
from coatcheck_client.deployment import Deployment
from coatcheck_client.schedules import KeptByConfig, RunRefused, ScheduleExists, ScheduleRefused, UnknownSchedule
from coatcheck_client.trouble import ExitCode

REGION = "ap-south-1"
TICKER = f"arn:aws:lambda:{REGION}:123456789012:function:ticker"
ROLE = "arn:aws:iam::123456789012:role/schedules"
NIGHTLY = Schedule(
    name="nightly",
    tenant="acme",
    kind="probe",
    args={"steps": 3},
    lane="bulk",
    expression="cron(30 2 * * ? *)",
    timezone="Asia/Kolkata",
    overlap=False,
)
NOW = datetime.now(UTC)


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        session = boto3.Session(region_name=REGION)
        outputs = {
            "ScheduleGroup": "coatcheck-test",
            "ScheduleRole": ROLE,
            "TickerFunction": TICKER,
            "LostTicksQueueUrl": session.client("sqs").create_queue(QueueName="lost-ticks")["QueueUrl"],
        }
        made = Deployment("test", outputs, session)
        made.scheduler.create_schedule_group(Name="coatcheck-test")
        yield made


def raw(deployment: Deployment, name: str = "nightly") -> dict[str, Any]:
    found: Any = deployment.scheduler.get_schedule(Name=name, GroupName="coatcheck-test")
    return dict(found)


def put_config(deployment: Deployment) -> None:
    """One that CloudFormation made."""
    deployment.scheduler.create_schedule(
        Name="weekly",
        GroupName="coatcheck-test",
        ScheduleExpression="rate(7 days)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": TICKER,
            "RoleArn": ROLE,
            "Input": json.dumps(replace(NIGHTLY, name="weekly").event(Origin.CONFIG)),
        },
    )


def test_a_schedule_comes_back_as_it_was_made(deployment: Deployment) -> None:
    schedules.create(deployment, NIGHTLY, replace=False)
    (found,) = schedules.stored(deployment)
    assert (found.schedule, found.origin) == (NIGHTLY, Origin.COMMAND)
    target = raw(deployment)["Target"]
    assert (target["Arn"], target["RoleArn"]) == (TICKER, ROLE)
    assert target["DeadLetterConfig"]["Arn"].endswith(":lost-ticks")
    assert json.loads(target["Input"])["scheduled_time"] == "<aws.scheduler.scheduled-time>"


def test_one_of_another_group_is_not_seen(deployment: Deployment) -> None:
    target: Any = {"Arn": TICKER, "RoleArn": ROLE}
    window: Any = {"Mode": "OFF"}
    deployment.scheduler.create_schedule(
        Name="else", ScheduleExpression="rate(1 day)", FlexibleTimeWindow=window, Target=target
    )
    assert schedules.stored(deployment) == []


def test_a_name_that_is_taken_is_changed_only_if_that_is_meant(deployment: Deployment) -> None:
    schedules.create(deployment, NIGHTLY, replace=True)
    with pytest.raises(ScheduleExists):
        schedules.create(deployment, NIGHTLY, replace=False)
    changed = replace(NIGHTLY, expression="rate(1 hour)", args={}, overlap=True)
    schedules.create(deployment, changed, replace=True)
    assert [each.schedule for each in schedules.stored(deployment)] == [changed]


def test_a_pause_changes_nothing_else_and_a_resume_undoes_it(deployment: Deployment) -> None:
    put_config(deployment)
    schedules.create(deployment, NIGHTLY, replace=False)
    for name in ("nightly", "weekly"):
        before = raw(deployment, name)
        schedules.set_enabled(deployment, name, enabled=False)
        paused = raw(deployment, name)
        assert paused["State"] == "DISABLED"
        schedules.set_enabled(deployment, name, enabled=True)
        after = raw(deployment, name)
        for each in {*before, *after} - {"State", "LastModificationDate", "ResponseMetadata"}:
            assert before.get(each) == paused.get(each) == after.get(each), each
        assert after["State"] == "ENABLED"


def test_what_the_config_keeps_is_neither_deleted_nor_changed_here(deployment: Deployment) -> None:
    put_config(deployment)
    with pytest.raises(KeptByConfig) as refused:
        schedules.delete(deployment, "weekly")
    assert "infra/config.py" in str(refused.value)
    with pytest.raises(KeptByConfig):
        schedules.create(deployment, replace(NIGHTLY, name="weekly"), replace=True)
    assert [each.origin for each in schedules.stored(deployment)] == [Origin.CONFIG]


def test_what_is_not_there_is_said_to_be_unknown(deployment: Deployment) -> None:
    for act in (
        lambda: schedules.delete(deployment, "nightly"),
        lambda: schedules.set_enabled(deployment, "nightly", enabled=False),
        lambda: schedules.run(deployment, "nightly", "k"),
    ):
        with pytest.raises(UnknownSchedule, match="there is no schedule 'nightly'"):
            act()


def test_a_deleted_schedule_is_gone(deployment: Deployment) -> None:
    schedules.create(deployment, NIGHTLY, replace=False)
    schedules.delete(deployment, "nightly")
    assert schedules.stored(deployment) == []


def test_a_single_time_goes_by_itself_once_it_has_fired(deployment: Deployment) -> None:
    schedules.create(deployment, replace(NIGHTLY, expression="at(2030-01-01T00:00:00)"), replace=False)
    assert raw(deployment)["ActionAfterCompletion"] == "DELETE"


def test_one_that_fires_for_the_last_time_while_they_are_listed_is_left_out(deployment: Deployment) -> None:
    for name in ("first", "second"):
        schedules.create(deployment, replace(NIGHTLY, name=name), replace=False)
    gone = deployment.session.client("scheduler")

    def fires(**_: object) -> None:
        with suppress(gone.exceptions.ResourceNotFoundException):
            gone.delete_schedule(Name="first", GroupName="coatcheck-test")

    deployment.scheduler.meta.events.register("before-call.scheduler.GetSchedule", fires)
    assert [each.schedule.name for each in schedules.stored(deployment)] == ["second"]


def test_a_name_that_the_service_would_not_take_is_unknown(deployment: Deployment) -> None:
    for name in ("", "a b", "n" * 65, "../nightly"):
        with pytest.raises(UnknownSchedule):
            schedules.find(deployment, name)


def test_a_key_that_no_header_can_carry_runs_nothing(deployment: Deployment) -> None:
    schedules.create(deployment, NIGHTLY, replace=False)
    for key in ("", "two words", "k" * 256):
        with pytest.raises(Unsendable, match="visible ASCII"):
            schedules.run(deployment, "nightly", key)


FOREIGN = json.dumps(NIGHTLY.event(Origin.COMMAND) | {"origin": "elsewhere"})


@pytest.mark.parametrize("text", ["", "hello", "[]", '{"request": {}}', '{"request": {"kind": "probe"}}', FOREIGN])
def test_what_somebody_else_put_into_the_group_is_shown_and_not_run(deployment: Deployment, text: str) -> None:
    target: Any = {"Arn": TICKER, "RoleArn": ROLE} | ({"Input": text} if text else {})
    window: Any = {"Mode": "OFF"}
    deployment.scheduler.create_schedule(
        Name="odd",
        GroupName="coatcheck-test",
        ScheduleExpression="rate(1 day)",
        FlexibleTimeWindow=window,
        Target=target,
    )
    (found,) = schedules.stored(deployment)
    assert found.schedule.kind == "(not of Coatcheck)"
    with pytest.raises(RunRefused) as refusal:
        schedules.run(deployment, "odd", "k")
    assert refusal.value.exit_code is ExitCode.REFUSED


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"timezone": "Asia/Calcuta"}, "did you mean Asia/Calcutta"),
        ({"expression": "30 2 * * *"}, "write rate"),
        ({"expression": "at(2020-01-01T00:00:00)"}, "is past"),
        ({"expression": "cron(0 0 1 1 ? 2020)"}, "no tick in the next 10 years"),
        ({"name": "Nightly"}, "a-z, 0-9"),
    ],
)
def test_what_would_never_tick_is_refused_before_anybody_is_asked(
    deployment: Deployment, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(ScheduleRefused, match=says):
        schedules.checked(deployment, replace(NIGHTLY, **change), NOW)


def test_the_next_tick_is_in_the_schedules_zone_and_none_while_it_is_paused(deployment: Deployment) -> None:
    schedules.create(deployment, NIGHTLY, replace=False)
    found = schedules.find(deployment, "nightly")
    due = found.next_tick(None, datetime(2026, 11, 30, 20, 59, tzinfo=UTC))
    assert due == datetime(2026, 11, 30, 21, tzinfo=UTC)
    assert schedules.set_enabled(deployment, "nightly", enabled=False).next_tick(None, NOW) is None
    assert schedules.find(deployment, "nightly").next_tick(None, NOW) is None


def test_a_rate_counts_from_its_last_tick(deployment: Deployment) -> None:
    schedules.create(deployment, replace(NIGHTLY, expression="rate(1 hour)"), replace=False)
    last = NOW - timedelta(minutes=20)
    assert schedules.find(deployment, "nightly").next_tick(last, NOW) == NOW + timedelta(minutes=40)
