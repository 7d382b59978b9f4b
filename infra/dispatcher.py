"""The dispatcher: rings for every transition that the stream of the jobs table tells of."""

from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from coatcheck.job import State, Wrote
from infra.config import Config
from infra.doorbells import Doorbells
from infra.private_bucket import AccessLogs, PrivateBucket
from infra.python_function import PythonFunction
from infra.tables import JobsTable

# A job's own item, after a transition that left something to do: heartbeats, marks and claims end here, before they
# cost an invocation.
TRANSITIONS = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {
        "Keys": {"item": {"S": ["job"]}},
        "NewImage": {
            "wrote": {"S": [Wrote.TRANSITION.value]},
            "state": {"S": sorted(state.value for state in State if state not in (State.RUNNING, State.CANCELLING))},
        },
    },
}


class Dispatcher(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        doorbells: Doorbells,
        access_logs: AccessLogs,
    ) -> None:
        super().__init__(scope, id_)
        self.function = PythonFunction(
            self,
            "Dispatcher",
            config=config,
            code=code,
            name="dispatcher",
            handler="dispatcher",
            size=config.ring_function,
        )
        self.function.tell_timings(config)
        doorbells.let_ring(self.function)
        jobs.grant_stream(self.function)
        lost_records = PrivateBucket(
            self,
            "LostRecords",
            config=config,
            name="lost-records",
            access_logs=access_logs,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(config.stream.keep_lost_records_days))],
        )
        self.function.allow("s3:ListBucket", on=[lost_records.bucket_arn])
        self.function.allow("s3:PutObject", on=[lost_records.arn_for_objects("*")])
        self.mapping = lambda_.EventSourceMapping(
            self,
            "Stream",
            target=self.function.function,
            event_source_arn=jobs.stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            filters=[lambda_.FilterCriteria.filter(TRANSITIONS)],
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
