"""History entries: what happened to a job and when, each beside the job's row, and there once."""

from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum

import msgspec

from coatcheck.job import Error, Job, State
from coatcheck.row import Row, milliseconds, moment
from coatcheck.store import Refused, Store
from coatcheck.write import Key, Put, Table, absent, put

PREFIX = "history#"
RANKS = {State.RETRYING: 0, State.QUEUED: 1, State.RUNNING: 2, State.CANCELLING: 3}
"""The order of states within one attempt number, in which each occurs once at most; final states come last."""

LAST_RANK = 4


class Cause(StrEnum):
    """Why a job that had been tried is queued again."""

    RETRY_DUE = "retry_due"
    YIELDED = "yielded"
    SNOOZED = "snoozed"
    TAKEN_OVER = "taken_over"


class Act(StrEnum):
    """What somebody did about a job without moving it."""

    REDRIVEN = "redriven"
    PURGED = "purged"
    PAUSED = "paused"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A job came into `state`; or, if there is an `act`, somebody did that while it was there."""

    at: datetime
    state: State
    attempt: int
    failures: int
    cause: Cause | None = None
    error: Error | None = None
    """Of a failure that this very transition brought."""

    retry_at: datetime | None = None
    run_at: datetime | None = None
    by: str | None = None
    act: Act | None = None
    detail: str | None = None
    ttl: int

    @property
    def place(self) -> tuple[int, int, int]:
        """Where the entry belongs in its job's history, whoever's clock its time is from."""
        since = 0 if self.act is None else milliseconds(self.at)
        return self.attempt, RANKS.get(self.state, LAST_RANK), since


TIMES = frozenset(each.name for each in fields(Entry) if each.type in (datetime, datetime | None))


def accepted(job: Job) -> Entry:
    """How any job began. The row keeps that for good."""
    return Entry(at=job.created_at, state=State.QUEUED, attempt=1, failures=0, by=job.requested_by, ttl=job.ttl)


def ended(job: Job) -> Entry:
    """How a final job ended. The row keeps that for good."""
    stopped = job.state is State.CANCELLED
    own = job.state is State.FAILED or (stopped and job.error is not None and job.error.type == State.CANCELLED)
    return Entry(
        at=job.finished_at or job.updated_at,
        state=job.state,
        attempt=job.attempt,
        failures=job.failures,
        error=job.error if own else None,
        by=job.cancelled_by if stopped else None,
        ttl=job.ttl,
    )


def moved(old: Job | None, new: Job) -> Entry:
    """The transition from one row of an open job to the next; or the pause that keeps it where it is."""
    if new.waiting is not None and new.paused_by is not None:
        return _act(new, Act.PAUSED, new.paused_by, new.updated_at, " ".join(new.waiting.split("#", 2)[1:]))
    cause = _cause(old, new)
    return Entry(
        at=new.updated_at,
        state=new.state,
        attempt=new.attempt,
        failures=new.failures,
        cause=cause,
        error=new.error if new.state is State.RETRYING or cause is Cause.TAKEN_OVER else None,
        retry_at=new.retry_at,
        run_at=new.run_at,
        by=new.cancelled_by,
        ttl=new.ttl,
    )


def _cause(old: Job | None, new: Job) -> Cause | None:
    if old is None or new.state is not State.QUEUED:
        return None
    match old.state:
        case State.RETRYING:
            return Cause.RETRY_DUE
        case State.RUNNING if new.owner is None:
            return Cause.TAKEN_OVER
        case State.RUNNING if new.run_at is not None:
            return Cause.SNOOZED
        case State.RUNNING:
            return Cause.YIELDED
    return None


def note(job: Job, act: Act, by: str, now: datetime, detail: str | None = None) -> Put:
    """The write that keeps what somebody did about a job. Put if absent: a repeated call finds its own effect."""
    return entry_write(job.id, _act(job, act, by, now, detail))


def _act(job: Job, act: Act, by: str, now: datetime, detail: str | None) -> Entry:
    return Entry(
        at=now,
        state=job.state,
        attempt=job.attempt,
        failures=job.failures,
        by=by,
        act=act,
        detail=detail,
        ttl=job.ttl,
    )


def entry_write(job_id: str, entry: Entry) -> Put:
    return put(entry_key(job_id, entry), {each.name: getattr(entry, each.name) for each in fields(Entry)}, absent("at"))


def entry_key(job_id: str, entry: Entry) -> Key:
    """Made of what happened, not of when it is written: a replayed record finds its own entry."""
    attempt, rank, since = entry.place
    act = "" if entry.act is None else f"#{since}#{entry.act}"
    return Key(table=Table.JOBS, id=job_id, item=f"{PREFIX}{attempt:08d}#{rank}#{entry.state}{act}")


def write_down(store: Store, job_id: str, entry: Entry) -> None:
    """Keep an entry, once. Raises Unavailable."""
    try:
        store.write(entry_write(job_id, entry))
    except Refused:
        return


def entry_of(row: Row) -> Entry:
    decoded = {
        name: moment(value) if name in TIMES and isinstance(value, int) else value for name, value in row.items()
    }
    return msgspec.convert(decoded, Entry)
