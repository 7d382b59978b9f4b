"""Writes of a ring to a job that waits: it was sent, it is marked, it is queued again, it is looked at later."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from coatcheck.job import UNMARKED, Job, State, Wrote
from coatcheck.time_limit import gives_up_at
from coatcheck.timings import Timings
from coatcheck.transition import from_states
from coatcheck.write import Update, as_seen, is_, update

MOST_DOUBLINGS = 10


def sent_write(job: Job, now: datetime, timings: Timings) -> Update:
    """The doorbell of the number that is owed was rung; the same number again, ever more seldom, if nobody comes."""
    rings = job.rings + 1 if job.sent == job.attempt else 1
    again: timedelta = timings.ring_again * 2 ** min(rings - 1, MOST_DOUBLINGS)
    return update(
        job.key,
        (is_("state", State.QUEUED), is_("attempt", job.attempt), is_("sent", job.sent), is_("rings", job.rings)),
        {
            "sent": job.attempt,
            "rings": rings,
            "due": min(now + again, gives_up_at(job, timings)),
            "wrote": Wrote.MARK,
        }
        | UNMARKED,
    )


def mark_write(job: Job, mark: Mapping[str, object], now: datetime, timings: Timings) -> Update:
    """Mark a job that was not sent as waiting for a limiter, so that whoever lets it go on finds it."""
    return update(
        job.key,
        (
            is_("state", State.QUEUED),
            is_("attempt", job.attempt),
            is_("sent", job.sent),
            as_seen("waiting", job.waiting),  # two rings at once mark once
        ),
        {**mark, "due": min(now + timings.ring_again, gives_up_at(job, timings))},
    )


def requeue_write(job: Job, now: datetime, timings: Timings) -> Update:
    return update(
        job.key,
        (from_states(State.QUEUED, State.RETRYING), is_("attempt", job.attempt)),
        {
            "state": State.QUEUED,
            "retry_at": None,
            "ready_at": now,
            "due": now + timings.due_grace,
            "updated_at": now,
            "wrote": Wrote.TRANSITION,
        },
    )


def due_write(job: Job, due: datetime) -> Update:
    return update(
        job.key,
        (is_("state", job.state), is_("attempt", job.attempt), as_seen("due", job.due)),
        {"due": due, "wrote": Wrote.MARK},
    )
