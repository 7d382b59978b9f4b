"""The stream of the jobs table: only what counts, never stuck, never silently lost."""

import json
from typing import Any

import pytest

from tests.infra.template import Template

CONSUMERS = ("dispatcher", "recorder")


def feed(template: Template, consumer: str) -> Any:
    return template.feed(template.function(consumer)).properties


def matches(pattern: Any, value: Any) -> bool:
    """Lambda's filter rule: every named field is there and is one of the listed values."""
    if isinstance(pattern, list):
        return value in pattern
    return isinstance(value, dict) and all(
        name in value and matches(inner, value[name]) for name, inner in pattern.items()
    )


def record(
    event: str = "MODIFY", *, item: str = "job", wrote: str = "transition", state: str = "queued"
) -> dict[str, Any]:
    return {
        "eventName": event,
        "dynamodb": {
            "Keys": {"id": {"S": "j_1"}, "item": {"S": item}},
            "NewImage": {"id": {"S": "j_1"}, "item": {"S": item}, "wrote": {"S": wrote}, "state": {"S": state}},
        },
    }


@pytest.mark.parametrize(
    ("change", "rings", "records"),
    [
        (record("INSERT"), True, False),
        (record("MODIFY"), True, True),
        (record(state="retrying"), True, True),
        (record(state="succeeded"), True, True),
        (record(state="failed"), True, True),
        (record(state="cancelled"), True, True),
        (record(state="running"), False, True),
        (record(state="cancelling"), False, True),
        (record(wrote="beat"), False, False),
        (record(wrote="mark"), False, False),
        (record(item="cursor"), False, False),
        (record(item="history#00000001#2#running"), False, False),
        ({"eventName": "REMOVE", "dynamodb": {"Keys": {"id": {"S": "j_1"}, "item": {"S": "job"}}}}, False, False),
    ],
)
def test_only_transitions_that_leave_something_to_do_cost_an_invocation(
    template: Template, change: dict[str, Any], *, rings: bool, records: bool
) -> None:
    for consumer, counts in zip(CONSUMERS, (rings, records), strict=True):
        (pattern,) = (json.loads(each["Pattern"]) for each in feed(template, consumer)["FilterCriteria"]["Filters"])
        assert matches(pattern, change) is counts


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_it_reads_the_stream_of_jobs_from_its_beginning(template: Template, consumer: str) -> None:
    assert template.name_of(feed(template, consumer)["EventSourceArn"]) == "JobsTable.StreamArn"
    assert feed(template, consumer)["StartingPosition"] == "TRIM_HORIZON"


def test_no_more_read_the_stream_than_its_shards_serve(template: Template) -> None:
    readers = [
        mapping
        for mapping in template.of("AWS::Lambda::EventSourceMapping")
        if template.name_of(mapping.properties["EventSourceArn"]) == "JobsTable.StreamArn"
    ]
    assert len(readers) == len(CONSUMERS) == 2


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_poison_record_blocks_its_shard_for_some_retries_alone(template: Template, consumer: str) -> None:
    assert feed(template, consumer)["MaximumRetryAttempts"] == 5
    assert feed(template, consumer)["BisectBatchOnFunctionError"] is True
    assert feed(template, consumer)["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_shards_are_read_ten_times_at_once(on_aws: Template, consumer: str) -> None:
    assert feed(on_aws, consumer)["ParallelizationFactor"] == 10


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_what_is_given_up_is_kept_where_an_alarm_sees_it(template: Template, consumer: str) -> None:
    mapping = template.feed(template.function(consumer))
    bucket = template.referred(mapping.properties["DestinationConfig"]["OnFailure"]["Destination"])
    assert bucket.type == "AWS::S3::Bucket"
    assert mapping.properties["MetricsConfig"] == {"Metrics": ["EventCount"]}
    watched = [
        (dimension["Name"], template.referred(dimension["Value"]))
        for alarm in template.of("AWS::CloudWatch::Alarm")
        if alarm.properties["MetricName"] == "OnFailureDestinationDeliveredEventCount"
        for dimension in alarm.properties["Dimensions"]
    ]
    assert ("EventSourceMappingUUID", mapping) in watched
