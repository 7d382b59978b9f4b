"""A deployment of Coatcheck seen from the AWS side: its stack's outputs, and sessions to reach what they name."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coatcheck_client.local.emulator import ROOT_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY
from coatcheck_client.local.record import Stack, read_stack
from coatcheck_client.project import find_project
from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

if TYPE_CHECKING:
    import boto3
    from types_boto3_apigatewayv2 import ApiGatewayV2Client
    from types_boto3_cloudformation import CloudFormationClient
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_lambda import LambdaClient
    from types_boto3_logs import CloudWatchLogsClient
    from types_boto3_scheduler import EventBridgeSchedulerClient
    from types_boto3_sqs import SQSClient

LOCAL = "local"


class NotRunning(Unreachable):
    """There is no local stack."""

    def __init__(self) -> None:
        super().__init__("the local stack is not running", hint="start it with `coatcheck up`")


class NotDeployed(Unreachable):
    """AWS knows no such stack in the account and region of the current credentials."""

    def __init__(self, stack_name: str, reason: str) -> None:
        super().__init__(
            f"no outputs of the stack {stack_name}: {reason}",
            hint="check --stage, AWS_PROFILE and AWS_REGION, or deploy it: npx cdk deploy -c stage=…",
        )


class OutputMissing(Trouble):
    """The stack is older than this client, or not one of Coatcheck."""

    exit_code = ExitCode.NOT_RUNNING

    def __init__(self, stack_name: str, output: str) -> None:
        super().__init__(f"the stack {stack_name} has no output {output}", hint="deploy it again")


@dataclass(frozen=True)
class Deployment:
    """`endpoint_url` is the emulator's for the local stage, None for AWS itself."""

    stage: str
    outputs: dict[str, str]
    session: "boto3.Session"
    endpoint_url: str | None = None

    @property
    def stack_name(self) -> str:
        return f"coatcheck-{self.stage}"

    def output(self, name: str) -> str:
        """The value of one output. Raises OutputMissing."""
        if name not in self.outputs:
            raise OutputMissing(self.stack_name, name)
        return self.outputs[name]

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        return self.session.client("dynamodb", endpoint_url=self.endpoint_url)

    @cached_property
    def functions(self) -> "LambdaClient":
        from botocore.config import Config

        # a supervisor's round may take as long as its function may run
        return self.session.client("lambda", endpoint_url=self.endpoint_url, config=Config(read_timeout=900))

    @cached_property
    def sqs(self) -> "SQSClient":
        return self.session.client("sqs", endpoint_url=self.endpoint_url)

    @cached_property
    def operator(self) -> str:
        """Who acts: the identity of the current credentials, as AWS names it."""
        return self.session.client("sts", endpoint_url=self.endpoint_url).get_caller_identity()["Arn"]

    @cached_property
    def logs(self) -> "CloudWatchLogsClient":
        return self.session.client("logs", endpoint_url=self.endpoint_url)

    @cached_property
    def scheduler(self) -> "EventBridgeSchedulerClient":
        return self.session.client("scheduler", endpoint_url=self.endpoint_url)

    @cached_property
    def cloudwatch(self) -> "CloudWatchClient":
        return self.session.client("cloudwatch", endpoint_url=self.endpoint_url)

    @cached_property
    def cloudformation(self) -> "CloudFormationClient":
        return self.session.client("cloudformation", endpoint_url=self.endpoint_url)

    @cached_property
    def api_gateway(self) -> "ApiGatewayV2Client":
        return self.session.client("apigatewayv2", endpoint_url=self.endpoint_url)


def find_deployment(stage: str) -> Deployment:
    """The local stack, or the stack of that stage in the account of the current credentials. Raises Unreachable."""
    if stage == LOCAL:
        return local_deployment(running_stack())
    return _aws_deployment(stage)


def running_stack() -> Stack:
    """The running local stack. Raises NotRunning."""
    stack = read_stack(find_project())
    if stack is None:
        raise NotRunning
    return stack


def local_deployment(stack: Stack) -> Deployment:
    import boto3

    session = boto3.Session(
        aws_access_key_id=ROOT_ACCESS_KEY_ID,
        aws_secret_access_key=ROOT_SECRET_ACCESS_KEY,
        region_name=stack.region,
    )
    return Deployment(LOCAL, stack.outputs, session, stack.aws_endpoint_url)


def _aws_deployment(stage: str) -> Deployment:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    deployment = Deployment(stage, {}, boto3.Session())
    try:
        found = deployment.cloudformation.describe_stacks(StackName=deployment.stack_name)
    except (BotoCoreError, ClientError) as error:
        raise NotDeployed(deployment.stack_name, str(error)) from error
    outputs = {output["OutputKey"]: output["OutputValue"] for output in found["Stacks"][0].get("Outputs", [])}
    return Deployment(stage, outputs, deployment.session)
