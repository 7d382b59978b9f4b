"""The one way to make a Lambda function: its own role, its own log group, no permission that nobody asked for."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
import msgspec
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from coatcheck.run import settings
from infra.capacity import FunctionSize, Network
from infra.config import Config

NETWORK_INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)


class PythonFunction(Construct):
    """A handler of functions/handlers. Whoever owns a resource gives it access: a grant and its variable together."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        name: str,
        handler: str,
        size: FunctionSize,
        layer_arns: Sequence[str] = (),
        reserved_concurrency: int | None = None,
    ) -> None:
        super().__init__(scope, id_)
        full_name = f"{cdk.Stack.of(self).stack_name}-{name}"
        self.name = name
        self._role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{full_name}",
            retention=logs.RetentionDays[config.log_retention],
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=full_name,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            code=code,
            handler=f"handlers.{handler}.handler",
            memory_size=size.memory_mb,
            timeout=cdk.Duration.seconds(size.timeout_seconds),
            role=self._role,
            reserved_concurrent_executions=reserved_concurrency,
            log_group=log_group,
            tracing=lambda_.Tracing.ACTIVE,
            layers=[
                lambda_.LayerVersion.from_layer_version_arn(self, f"Layer{number}", arn)
                for number, arn in enumerate(layer_arns)
            ],
            environment=_powertools(config),
        )
        self.allow("logs:CreateLogStream", "logs:PutLogEvents", on=[log_group.log_group_arn])

    def allow(self, *actions: str, on: Sequence[str]) -> None:
        """Let the function do exactly these actions on these resources."""
        self._role.add_to_principal_policy(iam.PolicyStatement(actions=list(actions), resources=list(on)))

    def tell(self, **environment: str) -> None:
        """Set environment variables."""
        for name, value in environment.items():
            self.function.add_environment(name, value)

    def tell_timings(self, config: Config) -> None:
        self.tell(**{settings.TIMINGS: msgspec.json.encode(config.timings).decode()})

    def place(self, network: Network) -> None:
        """Run the function in a private network, which takes network interfaces that Lambda makes in its name."""
        resource = cast("lambda_.CfnFunction", self.function.node.default_child)
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(network.subnet_ids), security_group_ids=list(network.security_group_ids)
        )
        self.allow(*NETWORK_INTERFACES, on=["*"])


def _powertools(config: Config) -> dict[str, str]:
    environment = {"POWERTOOLS_SERVICE_NAME": f"coatcheck-{config.stage}", "POWERTOOLS_LOG_LEVEL": config.log_level}
    if config.is_local:
        environment["POWERTOOLS_TRACE_DISABLED"] = "true"
    return environment
