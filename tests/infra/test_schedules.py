"""Schedules: all in one group, their role may hand over ticks and nothing else, and no tick is given up unseen."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coatcheck.schedule import InvalidSchedule, Schedule, filled
from coatcheck.tick import Tick
from infra.config import CONFIGS, Stage
from infra.schedules import check_here
from tests.infra.template import Template, synthesized

NIGHTLY = Schedule(
    name="nightly",
    tenant="bharat-bazaar",
    kind="probe",
    args={"steps": 3},
    lane="bulk",
    expression="cron(30 2 * * ? *)",
    timezone="Asia/Kolkata",
    overlap=False,
)
PAUSED = replace(NIGHTLY, name="on-demand", expression="rate(15 minutes)", enabled=False)
LOCAL = CONFIGS[Stage.LOCAL]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return synthesized(replace(LOCAL, schedules=(NIGHTLY, PAUSED)), tmp_path_factory.mktemp("schedules"))


def schedule(template: Template, name: str) -> dict[str, Any]:
    return dict(template.one("AWS::Scheduler::Schedule", Name=name).properties)


def test_a_stage_has_a_group_for_its_schedules_and_none_in_it_by_default(template: Template) -> None:
    (group,) = template.of("AWS::Scheduler::ScheduleGroup")
    assert group.properties["Name"] == f"coatcheck-{template.config.stage}"
    assert template.output("ScheduleGroup") == group
    assert not [each for each in template.of("AWS::Scheduler::Schedule") if "GroupName" in each.properties]


def test_a_schedule_of_the_config_is_deployed_as_it_says(made: Template) -> None:
    found = schedule(made, "nightly")
    assert made.referred(found["GroupName"]) == made.output("ScheduleGroup")
    assert found["ScheduleExpression"] == "cron(30 2 * * ? *)"
    assert (found["ScheduleExpressionTimezone"], found["State"]) == ("Asia/Kolkata", "ENABLED")
    assert found["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule(made, "on-demand")["State"] == "DISABLED"


def test_its_target_is_the_ticker_which_gets_what_it_needs_for_a_tick(made: Template) -> None:
    target = schedule(made, "nightly")["Target"]
    assert made.referred(target["Arn"]) == made.function("ticker") == made.output("TickerFunction")
    assert made.referred(target["RoleArn"]) == made.output("ScheduleRole")
    at = datetime(2026, 11, 30, 21, tzinfo=UTC)
    event = filled(json.loads(target["Input"]), at)
    assert event["origin"] == "config"
    assert msgspec.convert(event, Tick) == Tick(
        schedule="nightly",
        scheduled_time=at,
        tenant="bharat-bazaar",
        request={"kind": "probe", "args": {"steps": 3}, "lane": "bulk"},
        overlap=False,
    )


def test_the_service_tries_for_a_day_and_lambda_again_and_a_tick_that_is_given_up_is_kept(made: Template) -> None:
    target = schedule(made, "nightly")["Target"]
    assert "RetryPolicy" not in target  # the service's own: 185 times within 24 hours
    assert made.referred(target["DeadLetterConfig"]["Arn"]) == made.queue("lost-ticks")
    (retries,) = made.of("AWS::Lambda::EventInvokeConfig")
    assert made.referred(retries.properties["FunctionName"]) == made.function("ticker")
    assert (retries.properties["MaximumRetryAttempts"], retries.properties["MaximumEventAgeInSeconds"]) == (2, 21600)
    destination = retries.properties["DestinationConfig"]["OnFailure"]["Destination"]
    assert made.referred(destination) == made.queue("lost-ticks")


def test_a_lost_tick_is_kept_for_longer_than_it_can_be_taken(template: Template) -> None:
    kept = template.queue("lost-ticks").properties["MessageRetentionPeriod"]
    assert kept > template.config.timings.keep_key.total_seconds()


def test_the_role_of_schedules_may_invoke_the_ticker_and_keep_what_is_given_up(template: Template) -> None:
    role = template.output("ScheduleRole")
    (policy,) = (
        policy for policy in template.of("AWS::IAM::Policy") if role == template.referred(policy.properties["Roles"][0])
    )
    allowed = {(statement.actions, statement.resources) for statement in template.statements(policy)}
    assert allowed == {
        (("lambda:InvokeFunction",), ("TickerFunction",)),
        (("sqs:SendMessage",), ("LostTicksQueue",)),
    }
    (trust,) = role.properties["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "Nightly"}, "a name has"),
        ({"kind": "prob"}, "no kind is named 'prob'"),
        ({"args": {"stepps": 3}}, "/args/stepps: unknown"),
        ({"lane": "slow"}, "there is no lane 'slow': there are interactive, bulk"),
        ({"expression": "30 2 * * *"}, "'nightly': .*write rate"),
        ({"timezone": "Asia/Calcuta"}, "'nightly': .*Asia/Calcutta"),
    ],
)
def test_a_schedule_that_would_never_become_a_job_fails_the_synth(
    change: dict[str, Any], says: str, tmp_path: Path
) -> None:
    wrong = replace(LOCAL, schedules=(replace(NIGHTLY, **change),))
    with pytest.raises(InvalidSchedule, match=says):
        synthesized(wrong, tmp_path)


def test_a_single_time_that_has_passed_does_not_fail_the_next_deployment() -> None:
    check_here(replace(NIGHTLY, expression="at(2020-01-01T00:00:00)"), LOCAL)
