"""The stream of the jobs table: only what counts, never stuck, never silently lost."""

import json
from typing import Any

import pytest

from tests.infra.template import Template


def feed(template: Template) -> Any:
    return template.feed(template.function("dispatcher")).properties


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
    ("change", "rings"),
    [
        (record("INSERT"), True),
        (record("MODIFY"), True),
        (record(state="retrying"), True),
        (record(state="succeeded"), True),
        (record(state="failed"), True),
        (record(state="cancelled"), True),
        (record(state="running"), False),
        (record(state="cancelling"), False),
        (record(wrote="beat"), False),
        (record(wrote="mark"), False),
        (record(item="cursor"), False),
        ({"eventName": "REMOVE", "dynamodb": {"Keys": {"id": {"S": "j_1"}, "item": {"S": "job"}}}}, False),
    ],
)
def test_only_transitions_that_leave_something_to_do_cost_an_invocation(
    template: Template, change: dict[str, Any], *, rings: bool
) -> None:
    (pattern,) = (json.loads(each["Pattern"]) for each in feed(template)["FilterCriteria"]["Filters"])
    assert matches(pattern, change) is rings


def test_it_reads_the_stream_of_jobs_from_its_beginning(template: Template) -> None:
    assert template.name_of(feed(template)["EventSourceArn"]) == "JobsTable.StreamArn"
    assert feed(template)["StartingPosition"] == "TRIM_HORIZON"


def test_a_poison_record_blocks_its_shard_for_some_retries_alone(template: Template) -> None:
    assert feed(template)["MaximumRetryAttempts"] == 5
    assert feed(template)["BisectBatchOnFunctionError"] is True
    assert feed(template)["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_shards_are_read_ten_times_at_once(on_aws: Template) -> None:
    assert feed(on_aws)["ParallelizationFactor"] == 10


def test_what_is_given_up_is_kept_where_an_alarm_sees_it(template: Template) -> None:
    bucket = template.referred(feed(template)["DestinationConfig"]["OnFailure"]["Destination"])
    assert bucket.type == "AWS::S3::Bucket"
    assert feed(template)["MetricsConfig"] == {"Metrics": ["EventCount"]}
    alarm = template.one("AWS::CloudWatch::Alarm", MetricName="OnFailureDestinationDeliveredEventCount")
    (dimension,) = alarm.properties["Dimensions"]
    assert dimension["Name"] == "EventSourceMappingUUID"
    assert template.referred(dimension["Value"]) == template.feed(template.function("dispatcher"))
