"""A schedule: ring what is due and count what is open, once a minute, or as often as the stage asks for within it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.load import count_load
from coatcheck.run import settings
from coatcheck.store import Unavailable
from coatcheck.supervisor import supervise, wake_resumed
from handlers import ports

logger = Logger()

MARGIN = timedelta(seconds=5)
SCHEDULE = timedelta(minutes=1)


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:
    """Walks once, and again every `supervise_every` until the schedule's next minute. `{"once": true}` walks once.

    Answers how often each step was taken.
    """
    begun = _now()
    end = begun + timedelta(milliseconds=context.get_remaining_time_in_millis()) - MARGIN
    pause = settings.timings().supervise_every
    total: dict[str, int] = {}
    while True:
        walked = supervise(ports.bell(), _now, end, _log_broken)
        resumed = wake_resumed(ports.bell(), _now, min(end, _now() + pause), _log_broken)
        for step, times in (*walked.items(), *resumed.items()):
            total[step] = total.get(step, 0) + times
        if _now() < end:
            _count_load()
        if event.get("once") or _now() + pause >= min(end, begun + SCHEDULE):
            logger.info("supervised", steps=total)
            return {"steps": total}
        time.sleep(pause.total_seconds())  # the pace of the walks, not a wait for something


def _count_load() -> None:
    """What clients are told of the load may be a walk older."""
    try:
        count_load(ports.jobs(), _now())
    except Unavailable as error:
        logger.warning("the open jobs cannot be counted", code=error.code)


def _log_broken(job_id: str, error: Exception) -> None:
    logger.error("a job cannot be rung", job_id=job_id, exc_info=error)


def _now() -> datetime:
    return datetime.now(UTC)
