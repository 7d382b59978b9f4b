"""Queues: nothing is lost, nothing comes back while it is worked on, nobody else may listen."""

import pytest

from infra.config import Stage
from tests.infra.template import Template

LANES = ("interactive", "bulk")
QUEUES = (*LANES, "wake", "unstarted", "dead-letters", "lost-ticks")
DAY = 86_400


def test_a_message_stays_hidden_longer_than_its_function_may_run(template: Template) -> None:
    fed_by_queues = [
        mapping
        for mapping in template.of("AWS::Lambda::EventSourceMapping")
        if template.referred(mapping.properties["EventSourceArn"]).type == "AWS::SQS::Queue"
    ]
    assert len(fed_by_queues) >= 4
    for mapping in fed_by_queues:
        queue = template.referred(mapping.properties["EventSourceArn"])
        function = template.referred(mapping.properties["FunctionName"])
        window = mapping.properties.get("MaximumBatchingWindowInSeconds", 0)
        margin = 5
        assert queue.properties["VisibilityTimeout"] >= function.properties["Timeout"] + window + margin


@pytest.mark.parametrize("lane", LANES)
def test_a_worker_runs_a_quarter_of_an_hour_and_its_message_a_minute_longer(on_aws: Template, lane: str) -> None:
    assert on_aws.function(f"worker-{lane}").properties["Timeout"] == 900
    assert on_aws.queue(lane).properties["VisibilityTimeout"] == 960


@pytest.mark.parametrize("lane", LANES)
def test_a_lane_takes_one_message_at_a_time_and_never_more_workers_than_its_slots(
    template: Template, lane: str
) -> None:
    feed = template.feed(template.function(f"worker-{lane}")).properties
    assert template.referred(feed["EventSourceArn"]) == template.queue(lane)
    assert feed["BatchSize"] == 1
    assert feed["ScalingConfig"]["MaximumConcurrency"] == template.config.maximum_concurrency[lane]
    assert "ReservedConcurrentExecutions" not in template.function(f"worker-{lane}").properties


def test_a_function_that_is_fed_says_which_messages_failed(template: Template) -> None:
    for mapping in template.of("AWS::Lambda::EventSourceMapping"):
        assert mapping.properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("lane", LANES)
def test_a_doorbell_that_nobody_lives_to_answer_goes_to_the_unstarted_ones(template: Template, lane: str) -> None:
    redrive = template.queue(lane).properties["RedrivePolicy"]
    assert template.referred(redrive["deadLetterTargetArn"]) == template.queue("unstarted")
    assert redrive["maxReceiveCount"] == 10
    feed = template.feed(template.function("unstarted"))
    assert template.referred(feed.properties["EventSourceArn"]) == template.queue("unstarted")


def test_dead_letters_come_from_the_platform_alone(template: Template) -> None:
    targets = [
        template.referred(queue.properties["RedrivePolicy"]["deadLetterTargetArn"])
        for queue in template.of("AWS::SQS::Queue")
        if "RedrivePolicy" in queue.properties
    ]
    assert template.queue("dead-letters") not in targets


def test_dead_letters_outlive_the_messages_of_lanes(template: Template) -> None:
    for lane in LANES:
        assert template.queue(lane).properties["MessageRetentionPeriod"] == 4 * DAY
    assert template.queue("dead-letters").properties["MessageRetentionPeriod"] == 14 * DAY


def test_a_wake_message_outlives_the_longest_wait_it_can_carry(template: Template) -> None:
    kept = template.queue("wake").properties["MessageRetentionPeriod"]
    assert kept > 2 * template.config.timings.wake_limit.total_seconds()


@pytest.mark.parametrize("name", QUEUES)
def test_queues_are_encrypted(template: Template, name: str) -> None:
    assert template.queue(name).properties["SqsManagedSseEnabled"] is True


def test_queues_on_aws_refuse_what_is_not_tls(on_aws: Template) -> None:
    refusing = {
        on_aws.referred(queue).properties["QueueName"]
        for policy in on_aws.of("AWS::SQS::QueuePolicy")
        for statement in on_aws.statements(policy)
        if statement.effect == "Deny" and statement.conditions == {"Bool": {"aws:SecureTransport": "false"}}
        for queue in policy.properties["Queues"]
    }
    assert refusing == {f"coatcheck-{on_aws.config.stage}-{name}" for name in QUEUES}


def test_every_queue_is_known_here(template: Template) -> None:
    names = {queue.properties["QueueName"] for queue in template.of("AWS::SQS::Queue")}
    assert names == {f"coatcheck-{template.config.stage}-{name}" for name in QUEUES}
    assert template.config.stage in Stage
