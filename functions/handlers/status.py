"""GET /v1/jobs/{id}, its result and its history, lists of jobs, and whether the service is well."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from coatcheck.cancellation import owned_job
from coatcheck.document import has_result, matches, result_expires_at
from coatcheck.history import history
from coatcheck.job import Job, StoredResult, job_key, job_of
from coatcheck.problem import Conflict, Gone, MethodNotAllowed, NotFound
from coatcheck.result_link import opened
from coatcheck.route import ROUTES, kind_route, methods_at
from coatcheck.run import settings
from handlers import lists, ports
from handlers.documents import shown
from handlers.gateway import Event, HttpAnswer, HttpRequest, answered

NO_LONGER_KEPT = "the result was kept for its time and is gone: submit the job again"


def handler(event: Event, context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    return answered(event, _route)


def _route(request: HttpRequest) -> HttpAnswer:
    path = request.route.partition(" ")[2]
    match path:
        case "/v1/health":
            return HttpAnswer(status=200, body={"status": "ok"})
        case "/v1/jobs":
            return lists.jobs(request)
        case "/v1/jobs/{id}":
            return _status(request, _job(request))
        case "/v1/jobs/{id}/result":
            return _result(request, _job(request))
        case "/v1/jobs/{id}/history":
            return HttpAnswer(status=200, body=history(ports.jobs(), _job(request)))
        case "/v1/results/{token}":
            return _result(request, _linked_job(request))
    return _nothing(request)


def _nothing(request: HttpRequest) -> HttpAnswer:
    """What no route fits: a method that the address does not take, or no address. Raises MethodNotAllowed, NotFound."""
    own = [kind_route(route.partition(" ")[2]) for route in settings.routes()]
    if methods := sorted(methods_at(request.address, [*ROUTES, *own])):
        allowed = ", ".join(methods)
        raise MethodNotAllowed(f"this address takes {allowed}", headers={"Allow": allowed})
    raise NotFound("there is nothing at this address")


def _job(request: HttpRequest) -> Job:
    return owned_job(ports.jobs(), request.caller, request.path["id"], datetime.now(UTC))


def _linked_job(request: HttpRequest) -> Job:
    """The job whose result a signed link opens, for whoever holds the link. Raises Forbidden, Gone."""
    row = ports.jobs().get(job_key(opened(request.path["token"], datetime.now(UTC), ports.key_of_links())))
    if row is None:
        raise Gone(NO_LONGER_KEPT)
    return job_of(row)


def _status(request: HttpRequest, job: Job) -> HttpAnswer:
    answer = shown(job, datetime.now(UTC))
    if has_result(job) and request.query.get("redirect") != "false":
        return replace(answer, status=303, headers={**answer.headers, "Location": f"/v1/jobs/{job.id}/result"})
    if matches(request.headers.get("if-none-match", ""), answer.headers["ETag"]):
        return replace(answer, status=304, body=None)
    return answer


def _check_stored(result: StoredResult) -> None:
    """S3's own answer for an object that is gone is XML that says nothing to a client. Raises Gone."""
    found = None if result.key is None else ports.objects().head(result.key)
    if found is None or result.version not in (None, found.version):
        raise Gone("the result was deleted before its time: submit the job again")


def _result(request: HttpRequest, job: Job) -> HttpAnswer:
    if not job.state.final:
        raise Conflict("the job has not finished: ask for its status first", headers={"Retry-After": "2"})
    if not has_result(job) or job.result is None or job.result.key is None:
        raise NotFound(f"the job ended as {job.state} and left no result")
    timings = settings.timings()
    if datetime.now(UTC) >= result_expires_at(job, timings):
        raise Gone(NO_LONGER_KEPT)
    _check_stored(job.result)
    link = ports.objects().link(
        job.result.key,
        job.result.version,
        job.result.key.rpartition("/")[2],
        head=request.method == "HEAD",
        seconds=round(timings.result_link.total_seconds()),
    )
    return HttpAnswer(status=303, headers={"Location": link})
