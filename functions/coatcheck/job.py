"""The job as a value, and its states."""

from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from zlib import crc32

import msgspec

from coatcheck.row import Row, encoded_row, moment
from coatcheck.write import Key, Table

DUE_SHARDS = 8
MOST_TYPE_BYTES = 128
MOST_MESSAGE_BYTES = 1024
MOST_STAGE_BYTES = 128
MOST_COUNT = 2**53


class State(StrEnum):
    """Where a job is in its life; each says how a job leaves it."""

    QUEUED = "queued"  # a worker claims it, or DELETE cancels it
    RUNNING = "running"  # the attempt ends, its lease expires, or DELETE asks it to stop
    RETRYING = "retrying"  # its retry falls due, or DELETE cancels it
    CANCELLING = "cancelling"  # the worker stops or has just finished, or its lease expires
    SUCCEEDED = "succeeded"  # never
    FAILED = "failed"  # never
    CANCELLED = "cancelled"  # never

    @property
    def final(self) -> bool:
        return self in FINAL


OWNED = (State.RUNNING, State.CANCELLING)
"""The states in which a worker has the job."""

FINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})


REDRIVABLE = (State.FAILED, State.CANCELLED)
"""The states from which a job can be tried again, as a new one."""


class Wrote(StrEnum):
    """What the last write of a row was: only transitions are worth a ring of the stream."""

    TRANSITION = "transition"
    BEAT = "beat"
    MARK = "mark"


class Reason(StrEnum):
    """Error types that the platform gives itself; a kind's own errors carry their class name."""

    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    NEVER_STARTED = "never_started"
    WORKER_DIED = "worker_died"
    NO_CHECKPOINT = "no_checkpoint"
    OUT_OF_TIME = "out_of_time"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    GAVE_UP = "gave_up"


DEAD_LETTERED = frozenset({Reason.ATTEMPTS_EXHAUSTED, Reason.TIMED_OUT, Reason.STALLED, Reason.NEVER_STARTED})


@dataclass(frozen=True, kw_only=True)
class Error:
    """Why an attempt or a job failed. `retryable` says whether the same request could succeed another time."""

    type: str
    message: str
    retryable: bool = True


@dataclass(frozen=True, kw_only=True)
class Progress:
    done: int = 0
    total: int | None = None
    stage: str | None = None

    @property
    def percent(self) -> int | None:
        return None if not self.total else min(100, 100 * self.done // self.total)


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """What a succeeded job left: an object of the results bucket (that very version of it), and what it holds."""

    key: str | None = None
    version: str | None = None
    bytes: int | None = None
    content_type: str | None = None
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job's row. Times are aware; the numbers and flags are those of the protocol (docs/architecture.md)."""

    id: str
    tenant: str
    kind: str
    lane: str
    state: State
    attempt: int = 1
    failures: int = 0
    max_failures: int
    timeout: timedelta
    """The most running time, over all attempts."""

    created_at: datetime
    updated_at: datetime
    requested_by: str
    cancelled_by: str | None = None
    request_hash: str
    retry_of: str | None = None
    retried_as: str | None = None
    args: str | None = None
    """JSON of small args; larger ones are an item beside the row."""

    labels: dict[str, str] = field(default_factory=dict)
    root: str
    run_at: datetime | None = None
    retry_at: datetime | None = None
    ready_at: datetime | None = None
    """Since when, or from when, it could run if somebody took it: set by whatever made it `queued`."""

    sent: int = 0
    rings: int = 0
    """How often the doorbell of the number `sent` was rung."""

    cap_value: str | None = None
    """What it has in common with the jobs that its kind caps together, as a digest."""

    waiting: str | None = None
    """The limiter that the job waits for, which will ring it."""

    waits_since: datetime | None = None
    paused_by: str | None = None
    """Who holds it, if that limiter is a pause."""

    owner: str | None = None
    lease_until: datetime | None = None
    claimed_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    ran: timedelta = timedelta(0)
    as_of: datetime | None = None
    seq: int = 0
    progress: Progress = Progress()
    cursor: str | None = None
    cursor_key: str | None = None
    """Where a cursor lies that is too large for the row."""

    error: Error | None = None
    result: StoredResult | None = None
    due: datetime | None = None
    freed: bool = False
    told: bool = False
    wrote: Wrote = Wrote.TRANSITION
    ttl: int
    """Epoch seconds after which the table may drop the row."""

    @property
    def key(self) -> Key:
        return job_key(self.id)

    def gone(self, now: datetime) -> bool:
        """Whether its time is over: the table drops such rows within days, and until then they count as absent."""
        return self.ttl <= now.timestamp()


UNMARKED: dict[str, object] = {"waiting": None, "waits_since": None, "paused_by": None}
"""What every write sets that sends a waiting job or moves it on."""

DUE_SHOWS = ("lane", "state", "ready_at", "waiting", "tenant")
"""What the index of what is due shows of a job beside its keys. No write changes these but one that moves `due`,
save a cancellation of what runs: so they cost nothing."""

DURATIONS = frozenset(each.name for each in fields(Job) if each.type is timedelta)
TIMES = frozenset(each.name for each in fields(Job) if each.type in (datetime, datetime | None))


def job_key(job_id: str) -> Key:
    return Key(table=Table.JOBS, id=job_id, item="job")


def args_key(job_id: str) -> Key:
    return Key(table=Table.JOBS, id=job_id, item="args")


def step_key(root: str, name: str) -> Key:
    """Beside the first job of a chain of redrives, so that a step that was done stays done."""
    return Key(table=Table.JOBS, id=root, item=f"step#{name}")


def due_shard(job_id: str) -> str:
    """The partition of the due index that a job belongs to, so that no single one takes every write."""
    return f"due#{crc32(job_id.encode()) % DUE_SHARDS}"


def row_of(job: Job) -> Row:
    return encoded_row({each.name: getattr(job, each.name) for each in fields(job)} | {"due_shard": due_shard(job.id)})


def job_of(row: Row) -> Job:
    """The job of a row. Attributes that this version does not know are passed over."""
    values: dict[str, object] = dict(row)
    for name in TIMES & row.keys():
        if isinstance(value := row[name], int):
            values[name] = moment(value)
    for name in DURATIONS & row.keys():
        if isinstance(value := row[name], int):
            values[name] = timedelta(milliseconds=value)
    return msgspec.convert(values, Job)


def readable(row: Row | None) -> Job | None:
    """The job of a row that others must not wait for; None also if this version cannot read it."""
    try:
        return None if row is None else job_of(row)
    except msgspec.ValidationError:
        return None
