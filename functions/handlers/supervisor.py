"""A schedule: ring what is due and measure the load, once a minute, or as often as the stage asks for within it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.load import COUNT_EVERY, Load, count_load
from coatcheck.run import settings
from coatcheck.run.load_metrics import tell
from coatcheck.store import Unavailable
from coatcheck.supervisor import supervise, wake_resumed
from handlers import bells, ports

logger = Logger()

MARGIN = timedelta(seconds=5)
SCHEDULE = timedelta(minutes=1)


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:
    """Walks once, and again every `supervise_every` until the schedule's next minute. `{"once": true}` walks once.

    Answers how often each step was taken, and the load if it could be counted.
    """
    begun = _now()
    end = begun + timedelta(milliseconds=context.get_remaining_time_in_millis()) - MARGIN
    pause = settings.timings().supervise_every
    total: dict[str, int] = {}
    rounds, load, counted = 0, None, datetime.min.replace(tzinfo=UTC)
    while True:
        walked = supervise(bells.bell(), _now, end, _log_broken)
        resumed = wake_resumed(bells.bell(), _now, min(end, _now() + pause), _log_broken)
        rounds += 1
        for step, times in (*walked.items(), *resumed.items()):
            total[step] = total.get(step, 0) + times
        if _now() < end and _now() - counted >= COUNT_EVERY:
            load, counted = _count_load(end), _now()
        if event.get("once") or _now() + pause >= min(end, begun + SCHEDULE):
            return _told(rounds, total, load)
        time.sleep(pause.total_seconds())  # the pace of the walks, which end with this minute


def _count_load(end: datetime) -> Load | None:
    """What clients are told of the load may be a walk older."""
    try:
        return count_load(ports.jobs(), _now, end, settings.caps().lanes)
    except Unavailable as error:
        logger.warning("the open jobs cannot be counted", code=error.code)
        return None


def _told(rounds: int, steps: dict[str, int], load: Load | None) -> dict[str, object]:
    now = _now()
    tell(rounds, load, settings.lane_queues(), now)
    logger.info("supervised", steps=steps)
    if load is None:
        return {"steps": steps}
    if not load.whole:
        logger.warning("there are more open jobs than can be counted in time", open_jobs=load.open_jobs)
    lanes = {
        lane: {"backlog": each.backlog, "oldest_wait_seconds": round(each.oldest_wait(now).total_seconds())}
        for lane, each in sorted(load.lanes.items())
    }
    return {"steps": steps, "open_jobs": load.open_jobs, "waiting": lanes}


def _log_broken(job_id: str, error: Exception) -> None:
    logger.error("a job cannot be rung", job_id=job_id, exc_info=error)


def _now() -> datetime:
    return datetime.now(UTC)
