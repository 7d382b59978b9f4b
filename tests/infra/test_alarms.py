"""Alarms: each exists, and somebody can hear it."""

import pytest

from tests.infra.template import Resource, Template


def alarm(template: Template, metric: str, queue: str | None = None) -> Resource:
    (found,) = (
        each
        for each in template.of("AWS::CloudWatch::Alarm")
        if each.properties["MetricName"] == metric
        and (queue is None or template.referred(each.properties["Dimensions"][0]["Value"]) == template.queue(queue))
    )
    return found


def test_one_dead_letter_is_enough(template: Template) -> None:
    # what SQS moves by itself is not counted as sent: the alarm looks at what is there
    found = alarm(template, "ApproximateNumberOfMessagesVisible", "dead-letters").properties
    assert found["Threshold"] == 1
    assert found["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (found["Statistic"], found["Period"], found["EvaluationPeriods"]) == ("Maximum", 60, 1)


@pytest.mark.parametrize(
    ("queue", "seconds"), [("interactive", 300), ("bulk", 3600), ("unstarted", 300), ("wake", 1800)]
)
def test_a_message_that_nobody_takes_is_noticed(template: Template, queue: str, seconds: int) -> None:
    found = alarm(template, "ApproximateAgeOfOldestMessage", queue).properties
    assert found["Threshold"] == seconds
    assert seconds < template.queue(queue).properties["MessageRetentionPeriod"]


def test_a_delayed_wake_message_is_no_alarm(template: Template) -> None:
    found = alarm(template, "ApproximateAgeOfOldestMessage", "wake").properties
    assert found["Threshold"] > template.config.timings.wake_limit.total_seconds()


@pytest.mark.parametrize("metric", ["OnFailureDestinationDeliveredEventCount", "DestinationDeliveryFailures"])
def test_a_lost_record_is_enough_whoever_lost_it(template: Template, metric: str) -> None:
    found = [
        each.properties for each in template.of("AWS::CloudWatch::Alarm") if each.properties["MetricName"] == metric
    ]
    assert len({str(each["Dimensions"]) for each in found}) == 2
    for each in found:
        assert (each["Namespace"], each["Statistic"], each["Threshold"]) == ("AWS/Lambda", "Sum", 1)


def test_every_alarm_says_what_happened_to_a_topic_that_takes_it(template: Template) -> None:
    topic = template.output("AlarmTopic")
    for each in template.of("AWS::CloudWatch::Alarm"):
        assert [template.referred(action) for action in each.properties["AlarmActions"]] == [topic]
        assert each.properties["AlarmDescription"]
    (policy,) = template.of("AWS::SNS::TopicPolicy")
    allowing = [statement for statement in template.statements(policy) if statement.effect == "Allow"]
    assert [(each.actions, each.principal) for each in allowing] == [
        (("sns:Publish",), {"Service": "cloudwatch.amazonaws.com"})
    ]
