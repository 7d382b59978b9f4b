"""The status document as answers show it, with its entity tag and when to ask again."""

from contextlib import suppress
from datetime import datetime

from coatcheck.document import etag, retry_after, status_document
from coatcheck.job import Job, State
from coatcheck.limiter import shared
from coatcheck.run import settings
from coatcheck.store import Unavailable
from handlers import ports
from handlers.gateway import HttpAnswer


def _ahead(job: Job) -> int | None:
    """How many come first of those that wait for a slot as this job does; left out if nobody can say."""
    if job.state is not State.QUEUED or job.waiting is None or job.waits_since is None or shared(job.waiting) is None:
        return None
    with suppress(Unavailable):
        return ports.jobs().count_waiting(job.waiting, before=job.waits_since)
    return None


def shown(job: Job, now: datetime) -> HttpAnswer:
    document = status_document(job, now, settings.timings(), ports.sign, _ahead(job))
    wait = retry_after(job, ports.pace)
    headers = {"ETag": etag(document)} | ({} if wait is None else {"Retry-After": str(wait)})
    return HttpAnswer(status=200, body=document, headers=headers)
