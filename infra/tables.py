"""The tables: jobs with its stream and its indexes, idempotency keys, tenants."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from coatcheck.job import DUE_SHOWS
from coatcheck.run import settings
from infra.config import Config
from infra.python_function import PythonFunction

STRING = dynamodb.AttributeType.STRING
NUMBER = dynamodb.AttributeType.NUMBER
DUE_INDEX = "due"
TENANT_INDEX = "by_tenant"
WAITING_INDEX = "waiting"


class Table(Construct):
    """An on-demand table whose access is granted action by action, together with its name as a variable."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        variable: str,
        partition_key: str,
        sort_key: str | None = None,
        time_to_live: str | None = None,
        stream: dynamodb.StreamViewType | None = None,
        indexes: Sequence[dynamodb.GlobalSecondaryIndexPropsV2] = (),
    ) -> None:
        super().__init__(scope, id_)
        keep = not config.is_local
        self._variable = variable
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name=partition_key, type=STRING),
            sort_key=dynamodb.Attribute(name=sort_key, type=STRING) if sort_key else None,
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.aws_managed_key(),
            time_to_live_attribute=time_to_live,
            dynamo_stream=stream,
            global_secondary_indexes=list(indexes),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=keep
            ),
            deletion_protection=keep,
            removal_policy=cdk.RemovalPolicy.RETAIN if keep else cdk.RemovalPolicy.DESTROY,
        )

    def grant(self, function: PythonFunction, *operations: str) -> None:
        function.tell(**{self._variable: self.table.table_name})
        function.allow(*(f"dynamodb:{operation}" for operation in operations), on=[self.table.table_arn])


class JobsTable(Table):
    """Everything about jobs, the outbox included: see `coatcheck.row` for the items."""

    def __init__(self, scope: Construct, id_: str, *, config: Config) -> None:
        super().__init__(
            scope,
            id_,
            config=config,
            variable=settings.JOBS_TABLE,
            partition_key="id",
            sort_key="item",
            time_to_live="ttl",
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            indexes=[
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name=DUE_INDEX,
                    partition_key=dynamodb.Attribute(name="due_shard", type=STRING),
                    sort_key=dynamodb.Attribute(name="due", type=NUMBER),
                    projection_type=dynamodb.ProjectionType.INCLUDE,
                    non_key_attributes=list(DUE_SHOWS),
                ),
                # Only a job's own row carries a tenant; its id is ordered by time.
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name=TENANT_INDEX,
                    partition_key=dynamodb.Attribute(name="tenant", type=STRING),
                    sort_key=dynamodb.Attribute(name="id", type=STRING),
                    projection_type=dynamodb.ProjectionType.KEYS_ONLY,
                ),
                # Only a job that waits for a limiter is in it.
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name=WAITING_INDEX,
                    partition_key=dynamodb.Attribute(name="waiting", type=STRING),
                    sort_key=dynamodb.Attribute(name="waits_since", type=NUMBER),
                    projection_type=dynamodb.ProjectionType.KEYS_ONLY,
                ),
            ],
        )

    @property
    def stream_arn(self) -> str:
        return cast("str", self.table.table_stream_arn)

    def grant_stream(self, function: PythonFunction) -> None:
        function.allow(
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            "dynamodb:ListStreams",
            on=[self.stream_arn],
        )

    def grant_due(self, function: PythonFunction) -> None:
        """Let a function that has access to the table also ask what is due."""
        function.allow("dynamodb:Query", on=[f"{self.table.table_arn}/index/{DUE_INDEX}"])

    def grant_waiting(self, function: PythonFunction) -> None:
        """Let a function that has access to the table also ask who waits for a limiter."""
        function.allow("dynamodb:Query", on=[f"{self.table.table_arn}/index/{WAITING_INDEX}"])

    def grant_list(self, function: PythonFunction) -> None:
        """Let a function that has access to the table also find a tenant's jobs, and read several at once."""
        function.allow("dynamodb:Query", on=[f"{self.table.table_arn}/index/{TENANT_INDEX}"])
        function.allow("dynamodb:BatchGetItem", on=[self.table.table_arn])


class IdempotencyTable(Table):
    """Which job a tenant's key, or a kind's natural key, stands for."""

    def __init__(self, scope: Construct, id_: str, *, config: Config) -> None:
        super().__init__(
            scope,
            id_,
            config=config,
            variable=settings.IDEMPOTENCY_TABLE,
            partition_key="key",
            time_to_live="ttl",
        )


class TenantsTable(Table):
    """Hashed API keys and whose they are; of each tenant its own limits, and apart from these what it used of them."""

    def __init__(self, scope: Construct, id_: str, *, config: Config) -> None:
        super().__init__(scope, id_, config=config, variable=settings.TENANTS_TABLE, partition_key="key")
