"""What operators do to jobs: invoked by the `coatcheck` command, with the rights of whoever runs it."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec
from aws_lambda_powertools import Logger
from msgspec import Struct

from coatcheck import registry
from coatcheck.aws.call_count import taken
from coatcheck.caller import check_tenant
from coatcheck.document import status_document
from coatcheck.entry import Act, note
from coatcheck.history import history
from coatcheck.job import Job, job_key, job_of
from coatcheck.pause import Order, Scope, limiter, pause, paused_part, pauses, resume
from coatcheck.problem import NotFound, Problem
from coatcheck.redrive import redrive
from coatcheck.run import settings
from coatcheck.text import rfc3339
from handlers import ports, schedule_acts, tenant_acts
from handlers.schedule_acts import CheckSchedule, LookAtSchedules, RunSchedule
from handlers.tenant_acts import LookAtTenants, ResetLimits, SetLimits

logger = Logger()


class Redrive(Struct, frozen=True, kw_only=True, tag_field="act", tag="redrive"):
    """Try jobs again that failed. `by` is who asked."""

    job_ids: list[str]
    by: str


class Purged(Struct, frozen=True, kw_only=True, tag_field="act", tag="purged"):
    """The dead letters of these jobs were thrown away."""

    job_ids: list[str]
    by: str


class Look(Struct, frozen=True, kw_only=True, tag_field="act", tag="look"):
    """Say all that is known of jobs, whoever's they are."""

    job_ids: list[str]
    by: str


class Pause(Struct, frozen=True, kw_only=True, tag_field="act", tag="pause"):
    """Start no job of this kind, lane or tenant from now on."""

    scope: Scope
    name: str
    by: str


class Resume(Struct, frozen=True, kw_only=True, tag_field="act", tag="resume"):
    """Let the jobs of this kind, lane or tenant go on."""

    scope: Scope
    name: str
    by: str


class Pauses(Struct, frozen=True, kw_only=True, tag_field="act", tag="pauses"):
    """Say what is paused."""

    by: str


OfJobs: TypeAlias = Redrive | Purged | Look
OfPauses: TypeAlias = Pause | Resume | Pauses
OfSchedules: TypeAlias = CheckSchedule | RunSchedule | LookAtSchedules
OfTenants: TypeAlias = LookAtTenants | SetLimits | ResetLimits
Asked: TypeAlias = OfJobs | OfPauses | OfSchedules | OfTenants


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Does one act. Raises Unavailable: then the operator asks again, which does no harm.

    About jobs it answers what became of each, or what is known of it: `{"jobs": [{"id", "retried_as", "resumes_at"?} |
    {"id", "job", "history"} | {"id", "refused"}]}`. About pauses it answers what is held and whom it still wakes:
    `{"held", "resumed": [{"scope", "name", "by", "at", "jobs"}]}`, or `{"refused"}`. About schedules:
    `schedule_acts`. About tenants: `tenant_acts`.
    """
    act = msgspec.convert(event, Asked)
    answer = _operated(act)
    told = {name: value for name, value in msgspec.to_builtins(act).items() if name != "request"}  # it has args
    logger.info("operated", act=told, calls=taken())
    return answer


def _operated(act: Asked) -> dict[str, object]:
    match act:
        case Redrive(job_ids=job_ids):
            return {"jobs": [_done(_redriven, job_id, act.by) for job_id in job_ids]}
        case Purged(job_ids=job_ids):
            return {"jobs": [_done(_noted, job_id, act.by) for job_id in job_ids]}
        case Look(job_ids=job_ids):
            return {"jobs": [_done(_known, job_id, act.by) for job_id in job_ids]}
        case Pause() | Resume() | Pauses():
            return _paused(act)
        case CheckSchedule() | RunSchedule() | LookAtSchedules():
            return schedule_acts.done(act)
        case LookAtTenants() | SetLimits() | ResetLimits():
            return tenant_acts.done(act)


def _done(do: Callable[[Job, str], dict[str, object]], job_id: str, by: str) -> dict[str, object]:
    row = ports.jobs().get(job_key(job_id))
    if row is None:
        return {"id": job_id, "refused": "there is no such job"}
    try:
        return {"id": job_id, **do(job_of(row), by)}
    except Problem as problem:
        return {"id": job_id, "refused": problem.detail}


def _redriven(old: Job, by: str) -> dict[str, object]:
    job = redrive(ports.jobs_and_keys(), old, by, settings.timings(), os.urandom, datetime.now(UTC))
    resumes = job.cursor is not None or job.cursor_key is not None
    return {"retried_as": job.id, **({"resumes_at": str(job.progress.done)} if resumes else {})}


def _noted(job: Job, by: str) -> dict[str, object]:
    ports.jobs().write(note(job, Act.PURGED, by, datetime.now(UTC)))
    return {}


def _known(job: Job, by: str) -> dict[str, object]:  # noqa: ARG001  # who looks is in the log
    document = status_document(job, datetime.now(UTC), settings.timings())
    return {"job": {**document, "tenant": job.tenant}, "history": history(ports.jobs(), job)["items"]}


def _paused(act: Pause | Resume | Pauses) -> dict[str, object]:
    order = Order(by=act.by, at=datetime.now(UTC))
    try:
        match act:
            case Pause(scope=scope, name=name):
                _check(scope, name)
                pause(ports.jobs(), limiter(scope, name), order)
            case Resume(scope=scope, name=name):
                resume(ports.jobs(), limiter(scope, name), order)
            case Pauses():
                pass
    except Problem as problem:
        return {"refused": problem.detail}
    known = pauses(ports.jobs())
    return {"held": _shown(known.held), "resumed": _shown(known.resumed)}


def _check(scope: Scope, name: str) -> None:
    """A name that nothing bears would pause nothing. Which tenants there are, only their callers know."""
    if scope is Scope.TENANT:
        check_tenant(name)
        return
    known = sorted(registry.names() if scope is Scope.KIND else settings.lanes())
    if name not in known:
        raise NotFound(f"there is no {scope} {name!r}: there are {', '.join(known)}")


def _shown(orders: Mapping[str, Order]) -> list[dict[str, object]]:
    """Each with how many jobs wait for its end: those whose doorbells are still out do not yet."""
    return [
        {
            "scope": paused_part(each)[0],
            "name": paused_part(each)[1],
            "by": order.by,
            "at": rfc3339(order.at),
            "jobs": ports.jobs().count_waiting(each),
        }
        for each, order in sorted(orders.items())
    ]
