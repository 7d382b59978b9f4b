"""DELETE /v1/jobs/{id}: cancel a job, or ask its worker to stop."""

from datetime import UTC, datetime
from typing import Any

from coatcheck.cancellation import cancel
from coatcheck.document import status_document
from coatcheck.job import State
from coatcheck.run import settings
from handlers import ports
from handlers.gateway import Event, HttpAnswer, HttpRequest, answered


def handler(event: Event, context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    return answered(event, _cancel)


def _cancel(request: HttpRequest) -> HttpAnswer:
    now = datetime.now(UTC)
    job = cancel(ports.jobs(), request.caller, request.path["id"], now, settings.timings())
    status = 202 if job.state is State.CANCELLING else 200
    return HttpAnswer(status=status, body=status_document(job, now, settings.timings()))
