"""The status document: what a client sees of a job."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from msgspec import UNSET, Meta, Struct, UnsetType, structs, to_builtins

from coatcheck.job import OWNED, REDRIVABLE, Error, Job, State
from coatcheck.limiter import Shared, shared
from coatcheck.load import SHORTEST_POLL_SECONDS
from coatcheck.store import MOST_AHEAD
from coatcheck.strict_json import digest
from coatcheck.text import rfc3339
from coatcheck.time_limit import attempts_limit
from coatcheck.timings import Timings

T = TypeVar("T")

Time = Annotated[str, Meta(description="RFC 3339, UTC", extra_json_schema={"format": "date-time"})]
Ahead = Annotated[int, Meta(ge=0, le=MOST_AHEAD, description="how many jobs come first, counted up to 100")]
Address = Annotated[
    str, Meta(description="an address of this API, relative to its own", extra_json_schema={"format": "uri-reference"})
]
Sign: TypeAlias = Callable[[str, datetime], str]
"""Makes the token that opens the result of the job with an id until a time."""

Reason = Literal[
    "tenant_at_cap", "kind_at_cap", "value_at_cap", "waiting_for_worker", "backing_off", "scheduled", "paused"
]


AT_CAP: dict[Shared, Reason] = {
    Shared.TENANT: "tenant_at_cap",
    Shared.KIND: "kind_at_cap",
    Shared.VALUE: "value_at_cap",
}


class ProgressPart(Struct, frozen=True, kw_only=True):
    """How far the job is; it never goes back."""

    done: int
    total: int | UnsetType = UNSET
    percent: Annotated[int, Meta(ge=0, le=100)] | UnsetType = UNSET
    stage: str | UnsetType = UNSET


class ErrorPart(Struct, frozen=True, kw_only=True):
    """Why the last attempt, or the job, failed. `retryable`: whether the same request could succeed another time."""

    type: str
    message: str
    retryable: bool


class ResultPart(Struct, frozen=True, kw_only=True):
    """What a succeeded job left. It is there until `expires_at`; `url` needs no key and works for a day."""

    url: Address | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    rows: int | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    expires_at: Time | UnsetType = UNSET


class LinksPart(Struct, frozen=True, kw_only=True):
    """What can be done with the job now."""

    self: Address
    result: Address | UnsetType = UNSET
    cancel: Address | UnsetType = UNSET
    retry: Address | UnsetType = UNSET


class StatusDocument(Struct, frozen=True, kw_only=True):
    """A job. What is not known or does not apply is left out."""

    id: str
    kind: str
    state: State
    reason: Reason | UnsetType = UNSET
    ahead: Ahead | UnsetType = UNSET
    lane: str
    labels: dict[str, str] | UnsetType = UNSET
    attempt: int
    failures: int
    max_failures: int
    progress: ProgressPart
    created_at: Time
    requested_by: str
    started_at: Time | UnsetType = UNSET
    finished_at: Time | UnsetType = UNSET
    updated_at: Time
    retry_at: Time | UnsetType = UNSET
    run_at: Time | UnsetType = UNSET
    timeout_at: Time | UnsetType = UNSET
    expires_at: Time
    error: ErrorPart | UnsetType = UNSET
    result: ResultPart | UnsetType = UNSET
    retry_of: str | UnsetType = UNSET
    retried_as: str | UnsetType = UNSET
    links: LinksPart


def status_document(
    job: Job, now: datetime, timings: Timings, sign: Sign | None = None, ahead: int | None = None
) -> dict[str, object]:
    """The job as JSON. A document that can have a result needs `sign`; it is called only if there is one.

    `ahead`: how many jobs come first of those that wait for a slot, as this one does.
    """
    document = StatusDocument(
        id=job.id,
        kind=job.kind,
        state=job.state,
        reason=_reason(job, now),
        ahead=given(ahead),
        lane=job.lane,
        labels=job.labels or UNSET,
        attempt=job.attempt,
        failures=job.failures,
        max_failures=job.max_failures,
        progress=_progress(job),
        created_at=rfc3339(job.created_at),
        requested_by=job.requested_by,
        started_at=time_part(job.started_at),
        finished_at=time_part(job.finished_at),
        updated_at=rfc3339(job.updated_at),
        retry_at=time_part(job.retry_at),
        run_at=time_part(job.run_at),
        timeout_at=time_part(attempts_limit(job, timings).at) if job.state in OWNED else UNSET,
        expires_at=rfc3339(datetime.fromtimestamp(job.ttl, UTC)),
        error=error_part(job.error),
        result=_result(job, now, timings, sign),
        retry_of=given(job.retry_of),
        retried_as=given(job.retried_as),
        links=_links(job),
    )
    return cast("dict[str, object]", to_builtins(document))


def etag(document: dict[str, object]) -> str:
    """The entity tag of a status document: equal for documents that a client cannot tell apart.

    The signed link is a new one in every document and leads to the same file: it is no difference.
    """
    result = cast("dict[str, Any]", document.get("result", {}))
    steady = {name: value for name, value in result.items() if name != "url"}
    return f'"{digest(document | {"result": steady})[:32]}"'


def matches(if_none_match: str, tag: str) -> bool:
    """Whether a client has the document with this tag already (RFC 9110, weak comparison)."""
    known = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return tag in known or known == ["*"]


def retry_after(job: Job, pace: Callable[[], int] = lambda: SHORTEST_POLL_SECONDS) -> int | None:
    """Seconds until a client should ask again; None when there is nothing more to come.

    `pace` says how long clients should wait now; it is asked only about an open job.
    """
    return None if job.state.final else pace()


def has_result(job: Job) -> bool:
    return job.state is State.SUCCEEDED and job.result is not None and job.result.key is not None


def result_expires_at(job: Job, timings: Timings) -> datetime:
    """When the result may no longer be had, to the hour and not to the bucket's whole days."""
    return (job.finished_at or job.updated_at) + timings.keep_result


def time_part(moment: datetime | None) -> str | UnsetType:
    return UNSET if moment is None else rfc3339(moment)


def _reason(job: Job, now: datetime) -> Reason | UnsetType:
    match job.state:
        case State.QUEUED if job.run_at is not None and job.run_at > now:
            return "scheduled"
        case State.QUEUED if job.paused_by is not None:
            return "paused"
        case State.QUEUED if job.waiting is not None and (limit := shared(job.waiting)) is not None:
            return AT_CAP[limit]
        case State.QUEUED:
            return "waiting_for_worker"
        case State.RETRYING:
            return "backing_off"
    return UNSET


def _progress(job: Job) -> ProgressPart:
    known = job.progress
    return ProgressPart(
        done=known.done, total=given(known.total), percent=given(known.percent), stage=given(known.stage)
    )


def error_part(error: Error | None) -> ErrorPart | UnsetType:
    return UNSET if error is None else ErrorPart(type=error.type, message=error.message, retryable=error.retryable)


def _result(job: Job, now: datetime, timings: Timings, sign: Sign | None) -> ResultPart | UnsetType:
    """Visible only once the final state is written."""
    if job.state is not State.SUCCEEDED or job.result is None:
        return UNSET
    part = ResultPart(rows=given(job.result.rows))
    if not has_result(job):
        return part
    return structs.replace(
        part,
        url=_signed_address(job, now, timings, sign),
        bytes=given(job.result.bytes),
        content_type=given(job.result.content_type),
        expires_at=rfc3339(result_expires_at(job, timings)),
    )


def _signed_address(job: Job, now: datetime, timings: Timings, sign: Sign | None) -> str | UnsetType:
    """Left out once the result is gone: a link would only say so."""
    until = min(now + timings.result_link_signed, result_expires_at(job, timings))
    return UNSET if sign is None or until <= now else f"/v1/results/{sign(job.id, until)}"


def _links(job: Job) -> LinksPart:
    ticket = _ticket(job)
    return LinksPart(
        self=ticket,
        result=f"{ticket}/result" if has_result(job) else UNSET,
        cancel=UNSET if job.state.final else ticket,
        retry=f"{ticket}/retry" if job.state in REDRIVABLE else UNSET,
    )


def _ticket(job: Job) -> str:
    return f"/v1/jobs/{job.id}"


def given(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value
