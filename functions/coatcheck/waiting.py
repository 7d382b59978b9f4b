"""Waiting for a job: an answer is held until there is something new to see, or the time is over."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from coatcheck.caller import Caller
from coatcheck.cancellation import owned_job
from coatcheck.job import Job
from coatcheck.problem import BadRequest
from coatcheck.store import Store

LONGEST_SECONDS = 20
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 1.0
PAUSE_GROWTH = 1.5


class Clock(Protocol):
    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


def checked_seconds(text: str | None) -> int:
    """How long a client wants to wait. Raises BadRequest."""
    if text is None:
        return LONGEST_SECONDS
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > LONGEST_SECONDS:
        raise BadRequest(f"seconds must be given once, as a whole number from 0 to {LONGEST_SECONDS}")
    return int(text)


def awaited_job(
    store: Store, caller: Caller, job_id: str, news: Callable[[Job], bool], clock: Clock, until: datetime
) -> Job:
    """The caller's job as soon as it is news or final, else as it is in the end. Raises NotFound, Unavailable.

    It reads the row again and again, with pauses that grow: a short job is seen at once, a long one costs one read
    a second.
    """
    pause = FIRST_PAUSE_SECONDS
    job = owned_job(store, caller, job_id, clock.now())
    while not job.state.final and not news(job) and (left := (until - clock.now()).total_seconds()) > 0:
        clock.sleep(min(pause, left))
        pause = min(pause * PAUSE_GROWTH, LONGEST_PAUSE_SECONDS)
        job = owned_job(store, caller, job_id, clock.now())
    return job
