"""Schedules of a deployment, as EventBridge Scheduler keeps them in the deployment's own group."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from coatcheck.schedule import InvalidSchedule, Origin, Schedule, check, filled
from coatcheck.timetable import At, timetable
from coatcheck_client.api import visible
from coatcheck_client.dead_letters import batches
from coatcheck_client.deployment import Deployment
from coatcheck_client.operator import operate
from coatcheck_client.stored_schedule import Stored, read
from coatcheck_client.trouble import ExitCode, Trouble

if TYPE_CHECKING:
    from types_boto3_scheduler.literals import ActionAfterCompletionType, ScheduleStateType
    from types_boto3_scheduler.type_defs import GetScheduleOutputTypeDef, TargetTypeDef

LOOKED_AT = 50
"""Of so many schedules the operators' function tells at once."""

NAME = re.compile(r"[0-9a-zA-Z_.-]{1,64}")
"""What the service takes for a name, also of a schedule that is none of ours."""


class UnknownSchedule(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no schedule {name!r}", hint="`coatcheck schedules list` shows those that there are")


class ScheduleExists(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a schedule {name!r} already", hint="--replace changes it")


class KeptByConfig(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the schedule {name!r} is kept by infra/config.py",
            hint="change it there and deploy; `coatcheck schedules pause` stops it until then",
        )


class ScheduleRefused(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, why: str, errors: Sequence[Mapping[str, str]] = ()) -> None:
        faults = "; ".join(f"{each['pointer']}: {each['detail']}" for each in errors)
        super().__init__(why, hint=faults if faults != why else None)


class RunRefused(ScheduleRefused):
    """The schedule is sound, but its job is not made now."""

    exit_code = ExitCode.REFUSED


def stored(deployment: Deployment) -> list[Stored]:
    """All of them, by name. A single time that fires meanwhile is gone."""
    pages = deployment.scheduler.get_paginator("list_schedules").paginate(GroupName=deployment.output("ScheduleGroup"))
    names = [each["Name"] for page in pages for each in page["Schedules"]]
    found = [_known(deployment, name) for name in sorted(names)]
    return [each for each in found if each is not None]


def find(deployment: Deployment, name: str) -> Stored:
    """Raises UnknownSchedule."""
    return read(_got(deployment, name))


def checked(deployment: Deployment, schedule: Schedule, now: datetime) -> None:
    """Whether its ticks can come, and the deployed version takes their jobs. Raises ScheduleRefused, OperatorFailed."""
    try:
        check(schedule, now)
    except InvalidSchedule as error:
        raise ScheduleRefused(str(error)) from error
    request = filled(schedule.event(Origin.COMMAND), now)["request"]
    _done(operate(deployment, "check_schedule", tenant=schedule.tenant, request=request))


def create(deployment: Deployment, schedule: Schedule, *, replace: bool) -> None:
    """Make it, or change the one of its name. Raises ScheduleExists, KeptByConfig, ScheduleRefused."""
    scheduler = deployment.scheduler
    single = isinstance(timetable(schedule.expression), At)
    after: ActionAfterCompletionType = "DELETE" if single else "NONE"
    state: ScheduleStateType = "ENABLED" if schedule.enabled else "DISABLED"
    act = scheduler.create_schedule
    if replace and (old := _known(deployment, schedule.name)) is not None:
        _own(old)
        act = scheduler.update_schedule
    try:
        act(
            Name=schedule.name,
            GroupName=deployment.output("ScheduleGroup"),
            Description="made by `coatcheck schedules create`",
            ScheduleExpression=schedule.expression,
            ScheduleExpressionTimezone=schedule.timezone,
            FlexibleTimeWindow={"Mode": "OFF"},
            State=state,
            ActionAfterCompletion=after,
            Target=_target(deployment, schedule),
        )
    except scheduler.exceptions.ConflictException as error:
        raise ScheduleExists(schedule.name) from error
    except scheduler.exceptions.ValidationException as error:
        raise ScheduleRefused(f"EventBridge Scheduler refuses it: {error}") from error


def set_enabled(deployment: Deployment, name: str, *, enabled: bool) -> Stored:
    """Let it tick, or not; the rest of it stays. Raises UnknownSchedule."""
    found: Any = _got(deployment, name) | {"State": "ENABLED" if enabled else "DISABLED"}
    # what an update leaves out is put back to its default
    kept = {each: found[each] for each in KEPT if found.get(each) is not None}
    deployment.scheduler.update_schedule(**kept)
    return read(found)


KEPT = (
    *("Name", "GroupName", "ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow", "Target"),
    *("State", "Description", "ActionAfterCompletion", "StartDate", "EndDate", "KmsKeyArn"),
)


def delete(deployment: Deployment, name: str) -> None:
    """Raises UnknownSchedule, KeptByConfig."""
    _own(find(deployment, name))
    scheduler = deployment.scheduler
    try:
        scheduler.delete_schedule(Name=name, GroupName=deployment.output("ScheduleGroup"))
    except scheduler.exceptions.ResourceNotFoundException as error:
        raise UnknownSchedule(name) from error


def run(deployment: Deployment, name: str, key: str) -> str:
    """Submit its job now; its id, the same one for the same key.

    Raises UnknownSchedule, RunRefused, Unsendable.
    """
    nonce, found = visible("a key", key), find(deployment, name)
    if found.event is None:
        raise RunRefused(f"the schedule {name!r} is not one of Coatcheck")
    event = filled(found.event, datetime.now(UTC))
    asked = {each: event[each] for each in ("schedule", "tenant", "request", "overlap")}
    return str(_done(operate(deployment, "run_schedule", nonce=nonce, **asked), RunRefused)["job_id"])


def records(deployment: Deployment, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What became of their ticks, by name. Raises OperatorFailed."""
    told: dict[str, dict[str, Any]] = {}
    for several in batches(names, LOOKED_AT):
        told |= operate(deployment, "look_at_schedules", schedules=list(several))["schedules"]
    return told


def _target(deployment: Deployment, schedule: Schedule) -> "TargetTypeDef":
    queue = deployment.output("LostTicksQueueUrl")
    found = deployment.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    return {
        "Arn": deployment.output("TickerFunction"),
        "RoleArn": deployment.output("ScheduleRole"),
        "Input": json.dumps(schedule.event(Origin.COMMAND)),
        "DeadLetterConfig": {"Arn": found["Attributes"]["QueueArn"]},
    }


def _got(deployment: Deployment, name: str) -> "GetScheduleOutputTypeDef":
    scheduler = deployment.scheduler
    if not NAME.fullmatch(name):
        raise UnknownSchedule(name)
    try:
        return scheduler.get_schedule(Name=name, GroupName=deployment.output("ScheduleGroup"))
    except scheduler.exceptions.ResourceNotFoundException as error:
        raise UnknownSchedule(name) from error


def _known(deployment: Deployment, name: str) -> Stored | None:
    try:
        return find(deployment, name)
    except UnknownSchedule:
        return None


def _own(found: Stored) -> None:
    if found.origin is Origin.CONFIG:
        raise KeptByConfig(found.schedule.name)


def _done(answer: dict[str, Any], refusal: type[ScheduleRefused] = ScheduleRefused) -> dict[str, Any]:
    if "refused" in answer:
        raise refusal(answer["refused"], answer["errors"])
    return answer
