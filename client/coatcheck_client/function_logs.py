"""What the functions of a deployment logged, merged in order of time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from coatcheck_client.deployment import Deployment
from coatcheck_client.trouble import ExitCode, Trouble

_POLL_SECONDS = 1.0
# CloudWatch Logs shows an event some time after it was written; so far back is looked again.
_LOOK_BACK = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True)
class LogLine:
    at: int
    """Epoch milliseconds."""

    function: str
    text: str
    event_id: str


class NoSuchFunction(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, wanted: str, known: list[str]) -> None:
        super().__init__(f"no function of the stack has {wanted!r} in its name", hint=f"there are: {', '.join(known)}")


def functions(deployment: Deployment, wanted: str | None) -> list[str]:
    """Names of the stack's functions, all or those with a word in their name. Raises NoSuchFunction."""
    pages = deployment.cloudformation.get_paginator("list_stack_resources").paginate(StackName=deployment.stack_name)
    names = sorted(
        resource["PhysicalResourceId"]
        for page in pages
        for resource in page["StackResourceSummaries"]
        if resource["ResourceType"] == "AWS::Lambda::Function" and "PhysicalResourceId" in resource
    )
    chosen = [name for name in names if wanted is None or wanted.lower() in name.lower()]
    if not chosen:
        raise NoSuchFunction(wanted or "", names)
    return chosen


def read(deployment: Deployment, names: list[str], *, since: datetime) -> list[LogLine]:
    """All lines of these functions since then, oldest first."""
    lines = [
        line for name in names for line in _read_group(deployment, name, _log_group(deployment, name), since=since)
    ]
    return sorted(lines, key=lambda line: line.at)  # of the same moment: in the order of their log


def follow(deployment: Deployment, names: list[str], *, since: datetime) -> Iterator[LogLine]:
    """The same, and then each new line as it appears, without end."""
    seen: set[str] = set()
    while True:
        for line in read(deployment, names, since=since):
            if line.event_id not in seen:
                seen.add(line.event_id)
                since = max(since, datetime.fromtimestamp(line.at / 1000, since.tzinfo) - _LOOK_BACK)
                yield line
        time.sleep(_POLL_SECONDS)  # CloudWatch tells nobody of new lines; whoever reads stops reading


def _log_group(deployment: Deployment, name: str) -> str:
    configuration = deployment.functions.get_function_configuration(FunctionName=name)
    return configuration.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{name}"


def _read_group(deployment: Deployment, name: str, group: str, *, since: datetime) -> Iterator[LogLine]:
    start = int(since.timestamp() * 1000)
    pages = deployment.logs.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=start)
    try:
        for page in pages:
            for event in page["events"]:
                text, at = event["message"].rstrip(), event["timestamp"]
                yield LogLine(at=at, function=name, text=text, event_id=event.get("eventId") or f"{group}{at}{text}")
    except deployment.logs.exceptions.ResourceNotFoundException:
        return  # the group is made when the function first logs something
