"""What the API says of a job, and of a kind of jobs. Fields that this version does not know are passed over."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self
from urllib.parse import quote

from msgspec import Meta, Struct, convert, structs

Time = Annotated[datetime, Meta(tz=True)]


class State(StrEnum):
    """Where a job is in its life. One that this version does not know is taken as it is, for an open one."""

    QUEUED = "queued"
    RUNNING = "running"
    RETRYING = "retrying"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether it never changes."""
        return self in FINAL

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_, unknown._value_ = value.upper(), value
        return unknown


FINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})


class Progress(Struct, frozen=True, kw_only=True):
    """How far the job is; it never goes back."""

    done: int
    total: int | None = None
    percent: int | None = None
    stage: str | None = None


class JobError(Struct, frozen=True, kw_only=True):
    """Why the last attempt, or the job, failed. `retryable`: whether the same request could succeed another time."""

    type: str
    message: str
    retryable: bool


class Result(Struct, frozen=True, kw_only=True):
    """What a succeeded job left. `url` is relative to the API's, needs no key and works for a day."""

    url: str | None = None
    bytes: int | None = None
    rows: int | None = None
    content_type: str | None = None
    expires_at: Time | None = None


class Links(Struct, frozen=True, kw_only=True):
    """What can be done with the job now; addresses relative to the API's."""

    self: str
    result: str | None = None
    cancel: str | None = None
    retry: str | None = None


class Job(Struct, frozen=True, kw_only=True):
    """A job as the API showed it last. What is not known or does not apply is None. Times are aware."""

    id: str
    kind: str
    state: State
    reason: str | None = None
    """Why an open job is not running."""

    ahead: int | None = None
    """How many come first of those that wait for a slot, counted up to 100."""

    lane: str
    labels: dict[str, str] = {}
    attempt: int
    failures: int
    max_failures: int
    progress: Progress
    created_at: Time
    requested_by: str
    started_at: Time | None = None
    finished_at: Time | None = None
    updated_at: Time
    retry_at: Time | None = None
    run_at: Time | None = None
    timeout_at: Time | None = None
    expires_at: Time
    error: JobError | None = None
    result: Result | None = None
    retry_of: str | None = None
    retried_as: str | None = None
    links: Links

    replayed: bool = False
    """Of a submit: the job had been there before. Not a field of the API's."""

    document: dict[str, Any] = {}
    """All that the API said, also what this version does not know. Not a field of the API's."""

    @property
    def final(self) -> bool:
        return self.state.final

    @property
    def succeeded(self) -> bool:
        return self.state is State.SUCCEEDED


class Kind(Struct, frozen=True, kw_only=True):
    """A kind of jobs. `args` is the JSON Schema of what it takes; of `unique` args no two open jobs are alike."""

    name: str
    description: str
    lane: str
    route: str | None = None
    unique: tuple[str, ...] = ()
    timeout_seconds: int
    max_failures: int
    args: dict[str, Any]


class _Jobs(Struct):
    items: list[dict[str, Any]]


class _Kinds(Struct):
    items: list[Kind]


def job_of(document: object, *, replayed: bool = False) -> Job:
    """The job that a status document shows. Raises msgspec.ValidationError."""
    return structs.replace(convert(document, Job), document=document, replayed=replayed)


def jobs_of(page: object) -> list[Job]:
    """The jobs of one page of a list. Raises msgspec.ValidationError."""
    return [job_of(item) for item in convert(page, _Jobs).items]


def kinds_of(answer: object) -> list[Kind]:
    """Raises msgspec.ValidationError."""
    return convert(answer, _Kinds).items


def job_path(job: Job | str) -> str:
    """The address of a job, or of one with that id, in the API."""
    return f"/v1/jobs/{quote(job.id if isinstance(job, Job) else job, safe='')}"
