"""Who reads the stream of the jobs table: only what counts, never stuck, and what is given up is kept."""

from collections.abc import Iterable
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from coatcheck.job import State, Wrote
from infra.config import Config
from infra.private_bucket import AccessLogs, PrivateBucket
from infra.python_function import PythonFunction
from infra.tables import JobsTable


def transitions(events: Iterable[str], into: Iterable[State]) -> dict[str, Any]:
    """The filter for a job's own item after a transition: heartbeats and marks end before they cost an invocation."""
    return {
        "eventName": list(events),
        "dynamodb": {
            "Keys": {"item": {"S": ["job"]}},
            "NewImage": {
                "wrote": {"S": [Wrote.TRANSITION.value]},
                "state": {"S": sorted(state.value for state in into)},
            },
        },
    }


class LostRecords(PrivateBucket):
    """Records that were given up after their retries."""

    def __init__(self, scope: Construct, id_: str, *, config: Config, access_logs: AccessLogs) -> None:
        super().__init__(
            scope,
            id_,
            config=config,
            name="lost-records",
            access_logs=access_logs,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(config.stream.keep_lost_records_days))],
        )


def feed_from_stream(
    function: PythonFunction,
    *,
    config: Config,
    jobs: JobsTable,
    lost_records: LostRecords,
    counts: dict[str, Any],
) -> lambda_.EventSourceMapping:
    """Invoke a function for the records that count; it says which of them failed."""
    jobs.grant_stream(function)
    function.allow("s3:ListBucket", on=[lost_records.bucket_arn])
    function.allow("s3:PutObject", on=[lost_records.arn_for_objects("*")])
    return lambda_.EventSourceMapping(
        function,
        "Stream",
        target=function.function,
        event_source_arn=jobs.stream_arn,
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        filters=[lambda_.FilterCriteria.filter(counts)],
        batch_size=config.stream.batch_size,
        parallelization_factor=config.stream.parallelization_factor,
        report_batch_item_failures=True,
        bisect_batch_on_error=True,
        retry_attempts=config.stream.maximum_retry_attempts,
        on_failure=_ToBucket(lost_records),
        support_s3_on_failure_destination=True,
        metrics_config=lambda_.MetricsConfig(metrics=[lambda_.MetricType.EVENT_COUNT]),
    )


@jsii.implements(lambda_.IEventSourceDlq)
class _ToBucket:
    """CDK's own class for this would let the function read and delete what is in the bucket."""

    def __init__(self, bucket: s3.Bucket) -> None:
        self._bucket = bucket

    def bind(self, target: Any, target_handler: Any) -> lambda_.DlqDestinationConfig:  # noqa: ARG002 (CDK's interface)
        return lambda_.DlqDestinationConfig(destination=self._bucket.bucket_arn)
