"""GET /v1/jobs and GET /v1/kinds: a page of the caller's jobs, and what can be asked for."""

from datetime import UTC, datetime

from aws_lambda_powertools import Logger
from msgspec import to_builtins

from coatcheck.catalogue import kind_list, loaded_kinds
from coatcheck.document import status_document
from coatcheck.listing import list_jobs, listing_of, next_link
from coatcheck.run import settings
from handlers import ports
from handlers.gateway import HttpAnswer, HttpRequest

logger = Logger()


def jobs(request: HttpRequest) -> HttpAnswer:
    caller = request.caller
    listing = listing_of(request.query)
    now = datetime.now(UTC)
    listed = list_jobs(ports.jobs(), caller, listing, now, _log_broken_row)
    timings = settings.timings()
    return HttpAnswer(
        status=200,
        body={"items": [status_document(job, now, timings, ports.sign) for job in listed.jobs]},
        headers={} if listed.last is None else {"Link": next_link(request.query, listed.last)},
    )


def kinds(request: HttpRequest) -> HttpAnswer:
    _ = request.caller  # who is not known is refused here, too
    return HttpAnswer(status=200, body=to_builtins(kind_list(_log_broken_kind)))


def openapi(request: HttpRequest) -> HttpAnswer:  # noqa: ARG001  # the same for everybody
    from coatcheck.openapi import openapi as described  # a submit does not pay for it

    return HttpAnswer(status=200, body=described(loaded_kinds(_log_broken_kind)))


def _log_broken_row(job_id: str, error: Exception) -> None:
    logger.error("a job cannot be listed", job_id=job_id, exc_info=error)


def _log_broken_kind(name: str, error: Exception) -> None:
    logger.error("a kind cannot be loaded", kind=name, exc_info=error)
