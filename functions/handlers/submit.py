"""POST /v1/jobs, and the routes that kinds have of their own: accept a job. And what can be asked for."""

import os
from datetime import UTC, datetime
from typing import Any

from coatcheck.document import retry_after, status_document
from coatcheck.request import Request, Terms, checked_key
from coatcheck.run import settings
from coatcheck.submission import submit
from handlers import lists, ports
from handlers.gateway import Event, HttpAnswer, HttpRequest, answered


def handler(event: Event, context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    return answered(event, _route)


def _route(request: HttpRequest) -> HttpAnswer:
    match request.route:
        case "GET /v1/kinds":
            return lists.kinds(request)
        case "GET /openapi.json":
            return lists.openapi(request)
    return _submit(request)


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
    timings = settings.timings()
    terms = Terms(timings=timings, lanes=settings.lanes(), random=os.urandom)
    accepted = submit(ports.jobs_and_keys(), terms, caller, asked, now)
    job = accepted.job
    headers = {"Location": f"/v1/jobs/{job.id}", "Retry-After": str(retry_after(job, ports.pace) or 1)}
    if accepted.replayed:
        headers["Idempotent-Replayed"] = "true"
    return HttpAnswer(status=202, body=status_document(job, now, timings, ports.sign), headers=headers)
