"""GET /v1/jobs: a page of the caller's jobs."""

from datetime import UTC, datetime

from aws_lambda_powertools import Logger

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


def _log_broken_row(job_id: str, error: Exception) -> None:
    logger.error("a job cannot be listed", job_id=job_id, exc_info=error)
