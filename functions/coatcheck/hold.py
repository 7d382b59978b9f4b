"""Holds: what a pause does to the row of a job that must not start now."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from coatcheck.doorbell import Doorbell
from coatcheck.job import Job, State, Wrote, job_key
from coatcheck.queued import mark_write
from coatcheck.timings import Timings
from coatcheck.write import Update, is_, update


@dataclass(frozen=True, kw_only=True)
class Hold:
    """Why a job must not start now: the limiter, as text, and who paused it."""

    limiter: str
    by: str


Holding: TypeAlias = Callable[[str, str, str, datetime, datetime | None], Hold | None]
"""What holds jobs of a kind, lane and tenant, as far as is known at a time, and no older than another (a mark's)."""


def park_write(job: Job, hold: Hold, now: datetime, timings: Timings) -> Update:
    """Mark a job that was not sent, so that whoever resumes finds it."""
    return mark_write(job, _mark(hold, job.waits_since or now, now), now, timings)


def take_back_write(doorbell: Doorbell, hold: Hold, now: datetime, timings: Timings) -> Update:
    """Owe the next number instead of a doorbell's, which is stale from then on, wherever it is."""
    return update(
        job_key(doorbell.job_id),
        (is_("state", State.QUEUED), is_("attempt", doorbell.attempt), is_("tenant", doorbell.tenant)),
        _mark(hold, now, now) | {"attempt": doorbell.attempt + 1, "due": now + timings.due_grace},
    )


def _mark(hold: Hold, since: datetime, now: datetime) -> dict[str, object]:
    """A transition, although the state stays: the recorder tells of it."""
    return {
        "waiting": hold.limiter,
        "waits_since": since,
        "paused_by": hold.by,
        "updated_at": now,
        "wrote": Wrote.TRANSITION,
    }
