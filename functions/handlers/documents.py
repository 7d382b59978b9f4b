"""The status document as answers show it, with its entity tag and when to ask again."""

from datetime import datetime

from coatcheck.document import etag, retry_after, status_document
from coatcheck.job import Job
from coatcheck.run import settings
from handlers import ports
from handlers.gateway import HttpAnswer


def shown(job: Job, now: datetime) -> HttpAnswer:
    document = status_document(job, now, settings.timings(), ports.sign)
    wait = retry_after(job, ports.pace)
    headers = {"ETag": etag(document)} | ({} if wait is None else {"Retry-After": str(wait)})
    return HttpAnswer(status=200, body=document, headers=headers)
