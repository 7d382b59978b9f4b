"""Least privilege: what each function may do, in full."""

import pytest

from tests.infra.template import FUNCTIONS, Resource, Statement, Template

LOGS = {("logs:CreateLogStream", "AWS::Logs::LogGroup"), ("logs:PutLogEvents", "AWS::Logs::LogGroup")}
TRACES = {("xray:PutTelemetryRecords", "*"), ("xray:PutTraceSegments", "*")}
EVERY_FUNCTION = LOGS | TRACES


def table(name: str, *operations: str) -> set[tuple[str, str]]:
    return {(f"dynamodb:{operation}", name) for operation in operations}


def consume(queue: str) -> set[tuple[str, str]]:
    operations = ("ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "ReceiveMessage")
    return {(f"sqs:{operation}", queue) for operation in operations}


def objects(prefix: str, *operations: str) -> set[tuple[str, str]]:
    return {(f"s3:{operation}", f"ResultsBucket/{prefix}/*") for operation in operations}


READ_AND_WRITE = ("ConditionCheckItem", "GetItem", "PutItem", "UpdateItem")
JOB_ITEMS = table("JobsTable", "GetItem", "PutItem", "Query", "UpdateItem")
RING = (
    JOB_ITEMS
    | table("JobsTable/index/due", "Query")
    | table("JobsTable/index/waiting", "Query")
    | table("TenantsTable", "GetItem")
    | objects("results", "AbortMultipartUpload", "DeleteObject", "GetObject")
    | {("s3:ListBucket", "ResultsBucket"), ("s3:ListBucketMultipartUploads", "ResultsBucket")}
    | {("sqs:SendMessage", queue) for queue in ("InteractiveQueue", "BulkQueue", "WakeQueue", "DeadLetterQueue")}
)
STREAM = table("JobsTable.StreamArn", "DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
LOST_RECORDS = {("s3:ListBucket", "AWS::S3::Bucket"), ("s3:PutObject", "AWS::S3::Bucket/*")}
OBJECT_WORK = ("AbortMultipartUpload", "GetObject", "GetObjectVersion", "ListMultipartUploadParts", "PutObject")
WORK = (
    JOB_ITEMS
    | table("IdempotencyTable", "GetItem", "PutItem", "UpdateItem")
    | objects("results", *OBJECT_WORK)
    | objects("cursors", *OBJECT_WORK)
    | {("s3:ListBucket", "ResultsBucket")}
)
SIGN = {("secretsmanager:GetSecretValue", "AWS::SecretsManager::Secret.Id")}

ALLOWED = {
    "submit": table("JobsTable", *READ_AND_WRITE)
    | table("IdempotencyTable", *READ_AND_WRITE)
    | table("TenantsTable", "GetItem", "PutItem", "UpdateItem")
    | SIGN,
    "status": SIGN
    | {("s3:ListBucket", "ResultsBucket")}
    | table("JobsTable", "BatchGetItem", "GetItem", "Query")
    | table("JobsTable/index/by_tenant", "Query")
    | table("JobsTable/index/waiting", "Query")
    | objects("results", "GetObject", "GetObjectVersion"),
    "cancel": table("JobsTable", "GetItem", "UpdateItem"),
    "waiter": table("JobsTable", "GetItem") | table("JobsTable/index/waiting", "Query") | SIGN,
    "authorizer": table("TenantsTable", "GetItem"),
    "dispatcher": RING | STREAM | LOST_RECORDS,
    "recorder": STREAM
    | LOST_RECORDS
    | table("JobsTable", "GetItem", "PutItem", "UpdateItem")
    | {("sqs:SendMessage", "WakeQueue")},
    "wake": RING | consume("WakeQueue"),
    "supervisor": RING | table("JobsTable", "BatchGetItem"),
    "worker-interactive": WORK | consume("InteractiveQueue"),
    "worker-bulk": WORK | consume("BulkQueue"),
    "operator": table("JobsTable", "GetItem", "PutItem", "Query", "UpdateItem")
    | table("JobsTable/index/waiting", "Query")
    | table("IdempotencyTable", "GetItem", "PutItem", "UpdateItem")
    | table("TenantsTable", "GetItem", "PutItem", "UpdateItem"),
    "ticker": table("JobsTable", "GetItem", "PutItem")
    | table("IdempotencyTable", "GetItem", "PutItem")
    | {("sqs:SendMessage", "LostTicksQueue")},
    "unstarted": table("JobsTable", "GetItem", "UpdateItem") | consume("UnstartedQueue"),
}

# Actions that know no resources.
UNSCOPED = {
    "xray:PutTelemetryRecords": "X-Ray has no resources to name",
    "xray:PutTraceSegments": "X-Ray has no resources to name",
}


def every_statement(template: Template) -> list[tuple[Resource, Statement]]:
    return [
        (holder, statement)
        for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy")
        for holder in template.of(kind)
        for statement in template.statements(holder)
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_this_and_nothing_else(template: Template, name: str) -> None:
    statements = template.allowed(template.function(name))
    assert {statement.effect for statement in statements} == {"Allow"}
    allowed = {
        (action, resource)
        for statement in statements
        for action in statement.actions
        for resource in statement.resources
    }
    assert allowed - EVERY_FUNCTION == ALLOWED[name]
    assert allowed >= EVERY_FUNCTION


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_writes_to_its_own_log_group(template: Template, name: str) -> None:
    function = template.function(name)
    own = template.referred(function.properties["LoggingConfig"]["LogGroup"])
    role = template.referred(function.properties["Role"])
    (policy,) = (
        policy for policy in template.of("AWS::IAM::Policy") if role == template.referred(policy.properties["Roles"][0])
    )
    (statement,) = (
        statement
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "logs:PutLogEvents" in statement["Action"]
    )
    assert template.referred(statement["Resource"]) == own


def test_no_action_is_a_wildcard(template: Template) -> None:
    for _, statement in every_statement(template):
        if statement.effect == "Allow":
            assert not [action for action in statement.actions if "*" in action]


def test_only_actions_that_know_no_resources_are_allowed_on_all(template: Template) -> None:
    unscoped = {
        action
        for _, statement in every_statement(template)
        if statement.effect == "Allow" and "*" in statement.resources
        for action in statement.actions
    }
    assert unscoped == set(UNSCOPED)


def test_roles_hold_nothing_but_the_policies_above(template: Template) -> None:
    for role in template.of("AWS::IAM::Role"):
        assert not {"ManagedPolicyArns", "Policies"} & set(role.properties)


def test_no_two_functions_share_a_role(template: Template) -> None:
    functions = template.of("AWS::Lambda::Function")
    assert len({template.referred(function.properties["Role"]).id for function in functions}) == len(functions)


def test_each_role_is_for_one_service(template: Template) -> None:
    for role in template.of("AWS::IAM::Role"):
        (statement,) = role.properties["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"]["Service"] in {"lambda.amazonaws.com", "scheduler.amazonaws.com"}


def test_access_and_the_name_of_what_it_is_to_go_together(template: Template) -> None:
    variables = {
        "JOBS_TABLE": "JobsTable",
        "IDEMPOTENCY_TABLE": "IdempotencyTable",
        "TENANTS_TABLE": "TenantsTable",
        "RESULTS_BUCKET": "ResultsBucket",
        "WAKE_QUEUE": "WakeQueue",
        "DEAD_LETTER_QUEUE": "DeadLetterQueue",
        "LINK_SECRET_ARN": "AWS::SecretsManager::Secret.Id",
    }
    for name in FUNCTIONS:
        environment = template.environment(name)
        told = {variable for variable in variables if variable in environment}
        reached = {resource.partition("/")[0] for _, resource in ALLOWED[name]}
        expected = {variable for variable, resource in variables.items() if resource in reached}
        assert told == expected, name
        for variable in told:
            assert template.name_of(environment[variable]) == variables[variable]


@pytest.mark.parametrize("name", ["dispatcher", "wake", "supervisor"])
def test_who_rings_knows_every_lane(template: Template, name: str) -> None:
    queues = template.name_of(template.environment(name)["LANE_QUEUES"])
    assert queues == '{"interactive":"InteractiveQueue","bulk":"BulkQueue"}'


@pytest.mark.parametrize("lane", ["Interactive", "Bulk"])
def test_a_worker_knows_its_own_lane_alone(template: Template, lane: str) -> None:
    environment = template.environment(f"worker-{lane.lower()}")
    assert template.name_of(environment["LANE_QUEUE"]) == f"{lane}Queue"
    assert environment["LANE"] == lane.lower()
    assert "LANE_QUEUES" not in environment
