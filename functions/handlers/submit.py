"""POST /v1/jobs, and the routes that kinds have of their own: accept a job. And what can be asked for."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.cancellation import owned_job
from coatcheck.document import retry_after, status_document
from coatcheck.job import Job
from coatcheck.limiter import Caps
from coatcheck.redrive import redrive
from coatcheck.request import Request, Terms, checked_key
from coatcheck.run import settings
from coatcheck.run.admissions import Admissions
from coatcheck.run.known_limits import KnownLimits
from coatcheck.submission import submit
from handlers import kinds, ports
from handlers.gateway import Event, HttpAnswer, HttpRequest, answered

logger = Logger()


@cache
def admissions() -> Admissions:
    terms, tenants = settings.admission(), ports.tenants()
    return Admissions(tenants, KnownLimits(tenants, Caps()), ports.known_load(), terms, _log_unsure)


def _log_unsure(tenant: str, code: str) -> None:
    logger.warning("admission is not known, and the job is let in", tenant=tenant, code=code)


def handler(event: Event, context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    return answered(event, _route)


def _route(request: HttpRequest) -> HttpAnswer:
    match request.route:
        case "GET /v1/kinds":
            return kinds.kinds(request)
        case "GET /openapi.json":
            return kinds.openapi(request)
        case "POST /v1/jobs/{id}/retry":
            return _retry(request)
    return _submit(request)


def _retry(request: HttpRequest) -> HttpAnswer:
    """Try a job again, as a new one. It needs no body; one that is sent is not looked at."""
    now = datetime.now(UTC)
    caller, store, timings = request.caller, ports.jobs_and_keys(), settings.timings()
    old = owned_job(store, caller, request.path["id"], now)
    return _ticket(redrive(store, old, caller.name, timings, os.urandom, now, admissions().retry), now)


def _submit(request: HttpRequest) -> HttpAnswer:
    caller = request.caller
    key = checked_key(tuple(value for name, value in request.headers.items() if name == "idempotency-key"))
    body = request.json()
    kind = settings.routes().get(request.route)
    asked = (
        Request(fields=body, key=key)
        if kind is None
        else Request(fields={"kind": kind, "args": body}, key=key, args_at="")
    )
    now = datetime.now(UTC)
    terms = Terms(timings=settings.timings(), lanes=settings.lanes(), random=os.urandom, admit=admissions().submit)
    accepted = submit(ports.jobs_and_keys(), terms, caller, asked, now)
    ticket = _ticket(accepted.job, now)
    return replace(ticket, headers={**ticket.headers, "Idempotent-Replayed": "true"}) if accepted.replayed else ticket


def _ticket(job: Job, now: datetime) -> HttpAnswer:
    headers = {"Location": f"/v1/jobs/{job.id}", "Retry-After": str(retry_after(job, ports.pace) or 1)}
    return HttpAnswer(status=202, body=status_document(job, now, settings.timings(), ports.sign), headers=headers)
