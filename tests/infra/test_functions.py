"""Lambda functions: all made in one way."""

import importlib
from datetime import timedelta

import msgspec
import pytest

from coatcheck.timings import Timings
from infra.config import Stage
from tests.infra.template import FUNCTIONS, Template

LOG_DAYS = {Stage.LOCAL: 1, Stage.DEV: 14, Stage.PROD: 90}


def test_these_are_the_functions(template: Template) -> None:
    names = {function.properties["FunctionName"] for function in template.of("AWS::Lambda::Function")}
    assert names == {f"coatcheck-{template.config.stage}-{name}" for name in FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_run_python_on_graviton_and_are_traced(template: Template, name: str) -> None:
    function = template.function(name).properties
    assert function["Runtime"] == "python3.13"
    assert function["Architectures"] == ["arm64"]
    assert function["TracingConfig"] == {"Mode": "Active"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_logs_do_not_stay_for_ever(template: Template, name: str) -> None:
    function = template.function(name).properties
    group = template.referred(function["LoggingConfig"]["LogGroup"]).properties
    assert group["LogGroupName"] == f"/aws/lambda/{function['FunctionName']}"
    assert group["RetentionInDays"] == LOG_DAYS[template.config.stage]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_handler_exists(template: Template, name: str) -> None:
    module, _, attribute = template.function(name).properties["Handler"].rpartition(".")
    assert module == f"handlers.{name.partition('-')[0]}"
    assert callable(getattr(importlib.import_module(module), attribute))


def test_all_functions_share_one_zip(template: Template) -> None:
    assert len({str(function.properties["Code"]) for function in template.of("AWS::Lambda::Function")}) == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_powertools_knows_the_service(template: Template, name: str) -> None:
    environment = template.environment(name)
    assert environment["POWERTOOLS_SERVICE_NAME"] == f"coatcheck-{template.config.stage}"
    assert environment["POWERTOOLS_LOG_LEVEL"] == "INFO"
    assert ("POWERTOOLS_TRACE_DISABLED" in environment) == (template.config.stage is Stage.LOCAL)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("authorizer", "recorder")])
def test_every_rule_runs_by_the_timings_of_its_stage(template: Template, name: str) -> None:
    told = msgspec.json.decode(template.environment(name)["COATCHECK_TIMINGS"], type=Timings)
    assert told == template.config.timings


def test_the_supervisor_is_woken_every_minute_by_a_role_that_can_do_nothing_else(template: Template) -> None:
    (schedule,) = template.of("AWS::Scheduler::Schedule")
    assert schedule.properties["ScheduleExpression"] == "rate(1 minute)"
    target = schedule.properties["Target"]
    assert template.referred(target["Arn"]) == template.function("supervisor")
    role = template.referred(target["RoleArn"])
    (policy,) = (
        policy for policy in template.of("AWS::IAM::Policy") if role == template.referred(policy.properties["Roles"][0])
    )
    (statement,) = template.statements(policy)
    assert statement.actions == ("lambda:InvokeFunction",)
    assert statement.resources == ("SupervisorFunction",)


def test_a_supervisor_that_goes_round_by_itself_is_not_cut_off_within_its_minute(template: Template) -> None:
    if template.config.timings.supervise_every < timedelta(minutes=1):
        assert template.function("supervisor").properties["Timeout"] >= 60


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_environment_is_far_from_what_lambda_takes(template: Template, name: str) -> None:
    # 4 KB in all; a reference stands for an address of up to 150 characters
    environment = template.environment(name)
    size = sum(len(variable) + max(len(str(value)), 150) for variable, value in environment.items())
    assert size < 3 * 1024
