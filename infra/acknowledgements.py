"""The checks of every synth, and each of their findings that stands, with its reason."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.config import Stage


@dataclass(frozen=True, kw_only=True)
class Acknowledged:
    """A finding at the constructs whose paths below the stack match `where` (as file names do).

    Within `finding`, `{Some/Path}` stands for the resource at that path, as cdk-nag names it.
    """

    where: str
    finding: str
    reason: str
    stages: frozenset[Stage] = frozenset(Stage)


LOCAL_ALONE = frozenset({Stage.LOCAL})

ACKNOWLEDGED = (
    Acknowledged(
        where="*/Role/DefaultPolicy/Resource",
        finding="AwsSolutions-IAM5[Resource::*]",
        reason="X-Ray's PutTraceSegments and PutTelemetryRecords know no resources. In a private network so do "
        "Lambda's calls that make and remove the function's network interfaces.",
    ),
    Acknowledged(
        where="Lanes/*/Worker/Role/DefaultPolicy/Resource",
        finding="AwsSolutions-IAM5[Resource::{Results/Bucket/Resource}/results/*]",
        reason="Workers write results of any tenant and job; the prefix keeps them out of everything else.",
    ),
    Acknowledged(
        where="Lanes/*/Worker/Role/DefaultPolicy/Resource",
        finding="AwsSolutions-IAM5[Resource::{Results/Bucket/Resource}/cursors/*]",
        reason="Workers keep cursors of any tenant and job; the prefix keeps them out of everything else.",
    ),
    Acknowledged(
        where="Api/Status/Role/DefaultPolicy/Resource",
        finding="AwsSolutions-IAM5[Resource::{Results/Bucket/Resource}/results/*]",
        reason="A presigned link can do what its signer can. The function signs links to the results of the "
        "caller's own jobs, whose keys it takes from the jobs' rows.",
    ),
    *(
        Acknowledged(
            where=f"{ringer}/{ringer}/Role/DefaultPolicy/Resource",
            finding="AwsSolutions-IAM5[Resource::{Results/Bucket/Resource}/results/*]",
            reason="Whoever rings a cancelled job, of any tenant, removes what that had begun to write.",
        )
        for ringer in ("Dispatcher", "Wake", "Supervisor")
    ),
    *(
        Acknowledged(
            where=f"{consumer}/{consumer}/Role/DefaultPolicy/Resource",
            finding="AwsSolutions-IAM5[Resource::{LostRecords/Resource}/*]",
            reason="Lambda makes up the names under which it puts records that it gives up; "
            "the bucket holds nothing else.",
        )
        for consumer in ("Dispatcher", "Recorder")
    ),
    Acknowledged(
        where="*/Function/Resource",
        finding="AwsSolutions-L1",
        reason="Wheels are pinned and tried for Python 3.13, which Lambda supports until June 2029.",
    ),
    Acknowledged(
        where="WakeQueue/Queue/Resource",
        finding="AwsSolutions-SQS3",
        reason="A wake message is a hint that may be lost: the row that it is about is due to the supervisor. "
        "Kept for later it would be wrong. One that carries a history's entry is seen by the alarm of its age.",
    ),
    Acknowledged(
        where="DeadLetters/Queue/Resource",
        finding="AwsSolutions-SQS3",
        reason="This is the dead-letter queue. The platform itself sends to it, when it has written a job's failure.",
    ),
    Acknowledged(
        where="Schedules/LostTicks/Queue/Resource",
        finding="AwsSolutions-SQS3",
        reason="This is a dead-letter queue: of EventBridge Scheduler, and of the ticker that it invokes.",
    ),
    Acknowledged(
        where="Api/Http/GET--v1--health/Resource",
        finding="AwsSolutions-APIG4",
        reason="Load balancers and uptime checks have no key. The answer says that the API is up and nothing else.",
    ),
    *(
        Acknowledged(
            where=f"Api/Http/{method}--v1--results--{{token}}/Resource",
            finding="AwsSolutions-APIG4",
            reason="The token in the address is the credential: signed, for one result, for a day.",
        )
        for method in ("GET", "HEAD")
    ),
    Acknowledged(
        where="LinkKey/Secret/Resource",
        finding="AwsSolutions-SMG4",
        reason="Its value is made within AWS and seen by nobody. A rotation would void every link that is out.",
    ),
    Acknowledged(
        where="Api/Http/GET--openapi.json/Resource",
        finding="AwsSolutions-APIG4",
        reason="The description of the API is the same for everybody, and names no tenant.",
    ),
    Acknowledged(
        where="Api/Default/Resource",
        finding="AwsSolutions-APIG4",
        reason="It answers what fits no route with 404 or 405, whoever asks. It reads nothing.",
    ),
    Acknowledged(
        where="*/Queue/Resource",
        finding="AwsSolutions-SQS4",
        reason="The emulator speaks plain HTTP, and only on this machine; it would refuse what the policy refuses.",
        stages=LOCAL_ALONE,
    ),
    *(
        Acknowledged(
            where=where,
            finding="AwsSolutions-S10",
            reason="The emulator speaks plain HTTP, and only on this machine; it would refuse what the policy refuses.",
            stages=LOCAL_ALONE,
        )
        for where in (
            "AccessLogs/*",
            "Results/Bucket/Resource",
            "LostRecords/Resource",
        )
    ),
)


def add_checks(app: cdk.App) -> None:
    """Let the synth fail for whatever AWS' solutions pack of cdk-nag finds, beside CDK's own validation."""
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))


def acknowledge(stack: cdk.Stack, *, stage: Stage) -> None:
    """Tell the checks which of their findings are meant."""
    prefix = f"{stack.node.path}/"
    constructs = {construct.node.path.removeprefix(prefix): construct for construct in stack.node.find_all()}

    def arn(path: re.Match[str]) -> str:
        resource = constructs[path[1]]
        return f"<{stack.get_logical_id(resource)}.Arn>"  # type: ignore[arg-type]  # a CfnElement, by its path

    for entry in (entry for entry in ACKNOWLEDGED if stage in entry.stages):
        acknowledgment = cdk.Acknowledgment(id=re.sub(r"\{(.+?)\}", arn, entry.finding), reason=entry.reason)
        for path, construct in constructs.items():
            if fnmatchcase(path, entry.where):
                cdk.Validations.of(construct).acknowledge(acknowledgment)
