"""Alarms: each exists, somebody can hear it, and somebody has written down what to do about it."""

import re
from collections.abc import Mapping

import pytest

from tests.infra.template import FUNCTIONS, REPOSITORY, Json, Template


def alarms(template: Template) -> dict[str, Mapping[str, Json]]:
    """The properties of each alarm by its name, without the stack's."""
    found = [each.properties for each in template.of("AWS::CloudWatch::Alarm")]
    return {each["AlarmName"].removeprefix(f"coatcheck-{template.config.stage}-"): each for each in found}


def watched(template: Template, alarm: Mapping[str, Json]) -> Json:
    """What the alarm's one dimension refers to."""
    (dimension,) = alarm["Dimensions"]
    return template.referred(dimension["Value"])


def test_one_dead_letter_is_enough(template: Template) -> None:
    # what SQS moves by itself is not counted as sent: the alarm looks at what is there
    found = alarms(template)["dead-letters"]
    assert found["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert watched(template, found) == template.queue("dead-letters")
    assert (found["Threshold"], found["ComparisonOperator"]) == (1, "GreaterThanOrEqualToThreshold")
    assert (found["Statistic"], found["EvaluationPeriods"]) == ("Maximum", 1)


def test_one_lost_tick_is_enough(template: Template) -> None:
    found = alarms(template)["lost-ticks"]
    assert found["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert watched(template, found) == template.queue("lost-ticks")
    assert (found["Threshold"], found["Statistic"]) == (1, "Maximum")


def test_sqs_has_a_number_a_minute_and_alarms_look_no_sooner(on_aws: Template) -> None:
    assert {each["Period"] for each in alarms(on_aws).values() if each["Namespace"] == "AWS/SQS"} == {60}


@pytest.mark.parametrize("queue", ["interactive", "bulk", "unstarted", "wake"])
def test_a_message_that_nobody_takes_is_noticed_before_it_is_lost(template: Template, queue: str) -> None:
    found = alarms(template)[f"oldest-message-{queue}"]
    assert found["MetricName"] == "ApproximateAgeOfOldestMessage"
    assert watched(template, found) == template.queue(queue)
    assert found["Threshold"] < template.queue(queue).properties["MessageRetentionPeriod"]


@pytest.mark.parametrize(("lane", "seconds"), [("interactive", 300), ("bulk", 3600)])
def test_a_job_that_waits_too_long_is_noticed_and_one_that_runs_long_is_no_alarm(
    template: Template, lane: str, seconds: int
) -> None:
    waits = alarms(template)[f"oldest-wait-{lane}"]
    assert (waits["Namespace"], waits["MetricName"], waits["Statistic"]) == ("Coatcheck", "OldestWait", "Maximum")
    stack = f"coatcheck-{template.config.stage}"
    assert {each["Name"]: each["Value"] for each in waits["Dimensions"]} == {"lane": lane, "service": stack}
    assert (waits["Threshold"], waits["TreatMissingData"]) == (seconds, "ignore")
    environment = template.environment("supervisor")
    assert environment["POWERTOOLS_SERVICE_NAME"] == stack  # where the dimension comes from
    ages = alarms(template)[f"oldest-message-{lane}"]
    assert ages["Threshold"] >= seconds + template.function(f"worker-{lane}").properties["Timeout"]


def test_a_delayed_wake_message_is_no_alarm(template: Template) -> None:
    found = alarms(template)["oldest-message-wake"]
    assert found["Threshold"] > template.config.timings.wake_limit.total_seconds()


def test_a_supervisor_that_says_nothing_is_an_alarm(template: Template) -> None:
    found = alarms(template)["supervisor-silent"]
    assert (found["Namespace"], found["MetricName"], found["Statistic"]) == ("Coatcheck", "SupervisorRounds", "Sum")
    assert (found["ComparisonOperator"], found["Threshold"]) == ("LessThanThreshold", 1)
    assert found["TreatMissingData"] == "breaching"
    assert found["Period"] >= 3 * 60  # its schedule's minute may be missed once or twice


@pytest.mark.parametrize("consumer", ["dispatcher", "recorder"])
def test_whoever_falls_behind_the_stream_or_gives_a_record_up_is_noticed(template: Template, consumer: str) -> None:
    behind = alarms(template)[f"iterator-age-{consumer}"]
    assert (behind["MetricName"], behind["Statistic"]) == ("IteratorAge", "Maximum")
    assert behind["Threshold"] < 3600 * 1000  # of the day that a stream keeps its records
    assert watched(template, behind) == template.function(consumer)
    lost = alarms(template)[f"lost-records-{consumer}"]
    assert lost["MetricName"] == "OnFailureDestinationDeliveredEventCount"
    assert watched(template, lost) == template.feed(template.function(consumer))
    undelivered = alarms(template)[f"undelivered-records-{consumer}"]
    assert undelivered["MetricName"] == "DestinationDeliveryFailures"
    for each in (lost, undelivered):
        assert (each["Namespace"], each["Statistic"], each["Threshold"]) == ("AWS/Lambda", "Sum", 1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_is_watched(template: Template, function: str) -> None:
    for metric, name in (("Errors", "errors"), ("Throttles", "throttles")):
        found = alarms(template)[f"{name}-{function}"]
        assert (found["Namespace"], found["MetricName"], found["Statistic"]) == ("AWS/Lambda", metric, "Sum")
        assert watched(template, found) == template.function(function)


def test_no_worker_that_is_ended_wakes_anybody_nor_a_job_that_ends_all_of_its_workers(template: Template) -> None:
    # a dead worker's job is taken over a lease later: that many of its workers can die while errors are counted
    for lane in ("interactive", "bulk"):
        found = alarms(template)[f"errors-worker-{lane}"]
        if template.config.stage != "local":
            assert found["Threshold"] > found["Period"] / template.config.timings.lease.total_seconds() + 1
        assert found["Threshold"] > 5


def test_answers_that_are_our_fault_are_noticed(template: Template) -> None:
    found = alarms(template)["api-errors"]
    assert (found["Namespace"], found["MetricName"], found["Statistic"]) == ("AWS/ApiGateway", "5xx", "Sum")
    assert found["Dimensions"] == [{"Name": "ApiId", "Value": template.outputs["ApiId"]["Value"]}]


def test_every_alarm_says_what_happened_to_a_topic_that_takes_it(template: Template) -> None:
    topic = template.output("AlarmTopic")
    for each in alarms(template).values():
        assert [template.referred(action) for action in each["AlarmActions"]] == [topic]
    (policy,) = template.of("AWS::SNS::TopicPolicy")
    allowing = [statement for statement in template.statements(policy) if statement.effect == "Allow"]
    assert [(each.actions, each.principal) for each in allowing] == [
        (("sns:Publish",), {"Service": "cloudwatch.amazonaws.com"})
    ]


def test_every_alarm_has_a_page_in_the_runbook_and_every_page_an_alarm(template: Template) -> None:
    runbook = (REPOSITORY / "docs" / "runbook.md").read_text()
    pages = re.findall(r"^### (\S+)$", runbook.partition("## Alarms")[2].partition("\n## ")[0], re.MULTILINE)
    named = {}
    for name, each in alarms(template).items():
        says, _, section = each["AlarmDescription"].partition(" What to do: docs/runbook.md#")
        assert says.endswith(".")
        assert name == section or name.startswith(f"{section}-")
        named[name] = section
    assert set(named.values()) == set(pages)
    assert len(pages) == len(set(pages))


def test_no_tenant_and_no_job_is_a_dimension(template: Template) -> None:
    names = {dimension["Name"] for each in alarms(template).values() for dimension in each["Dimensions"]}
    assert names == {"QueueName", "FunctionName", "EventSourceMappingUUID", "ApiId", "lane", "service"}
