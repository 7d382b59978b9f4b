"""GET /v1/jobs/{id}/wait: the status document as soon as there is something new in it."""

from datetime import timedelta
from typing import Any

from coatcheck.document import matches
from coatcheck.job import Job
from coatcheck.run.clock import WallClock
from coatcheck.waiting import awaited_job, checked_seconds
from handlers import ports
from handlers.documents import shown
from handlers.gateway import Event, HttpAnswer, HttpRequest, answered

MARGIN_SECONDS = 5
"""What is left of the function's time, for the answer."""


def handler(event: Event, context: Any) -> dict[str, object]:
    left = context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS
    return answered(event, lambda request: _wait(request, left))


def _wait(request: HttpRequest, most_seconds: float) -> HttpAnswer:
    clock = WallClock()
    until = clock.now() + timedelta(seconds=min(checked_seconds(request.query.get("seconds")), most_seconds))
    seen = request.headers.get("if-none-match")

    def is_news(job: Job) -> bool:
        """Who names no document waits for the end."""
        return seen is not None and not matches(seen, shown(job, clock.now()).headers["ETag"])

    job = awaited_job(ports.jobs(), request.caller, request.path["id"], is_news, clock, until)
    return shown(job, clock.now())
