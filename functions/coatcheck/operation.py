"""What each operation of the API takes and answers, for the OpenAPI document; a test holds it to the routes."""

from dataclasses import dataclass

from coatcheck.job import State
from coatcheck.listing import DEFAULT_LIMIT, MOST_LIMIT
from coatcheck.parameter import IDEMPOTENCY_KEY, IF_NONE_MATCH, REDIRECT, Parameter
from coatcheck.problem import (
    BadRequest,
    Broken,
    Busy,
    Conflict,
    Forbidden,
    Gone,
    KeyUsed,
    NotFound,
    Problem,
    TooLarge,
    TooMany,
    Unauthorized,
    UnsupportedMediaType,
)
from coatcheck.registry import NAME
from coatcheck.request import LABEL, LABEL_NAME
from coatcheck.waiting import LONGEST_SECONDS


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A success. `body` names a schema; `headers` those that the answer always bears, `may_bear` those of some."""

    status: int
    description: str
    body: str | None = None
    headers: tuple[str, ...] = ()
    may_bear: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Operation:
    summary: str
    answers: tuple[Answer, ...]
    problems: tuple[type[Problem], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    body: str | None = None


ALWAYS: tuple[type[Problem], ...] = (Broken, Busy)
PRIVATE: tuple[type[Problem], ...] = (BadRequest, Unauthorized, Forbidden)
JOB: tuple[type[Problem], ...] = (NotFound,)

SUBMIT = Operation(
    summary="Hand in a job",
    answers=(
        Answer(
            status=202,
            description="Accepted, or accepted before: the ticket.",
            body="StatusDocument",
            headers=("Location", "Retry-After"),
            may_bear=("Idempotent-Replayed",),
        ),
    ),
    problems=(Conflict, TooLarge, UnsupportedMediaType, KeyUsed, TooMany),
    parameters=(IDEMPOTENCY_KEY,),
    body="JobRequest",
)
STATUS = Operation(
    summary="How a job is",
    answers=(
        Answer(
            status=200,
            description="The job. `Retry-After` while it is open.",
            body="StatusDocument",
            headers=("ETag",),
            may_bear=("Retry-After",),
        ),
        Answer(
            status=303,
            description="It succeeded and has a result: the way there, and the job.",
            body="StatusDocument",
            headers=("Location", "ETag"),
        ),
        Answer(
            status=304,
            description="Nothing has changed. `Retry-After` while the job is open.",
            headers=("ETag",),
            may_bear=("Retry-After",),
        ),
    ),
    problems=JOB,
    parameters=(REDIRECT, IF_NONE_MATCH),
)
RESULT = Operation(
    summary="The file of a succeeded job",
    answers=(Answer(status=303, description="A link that is good for minutes.", headers=("Location",)),),
    problems=(*JOB, Conflict, Gone),
)
CANCEL = Operation(
    summary="Cancel a job",
    answers=(
        Answer(status=200, description="It is cancelled.", body="StatusDocument"),
        Answer(status=202, description="Its worker was asked to stop; it may just finish.", body="StatusDocument"),
    ),
    problems=(*JOB, Conflict),
)
RETRY = Operation(
    summary="Try a job again that failed or was cancelled",
    answers=(
        Answer(
            status=202,
            description="The new job, the same one however often this is asked. It goes on from the checkpoint of"
            " the old one if that still stands.",
            body="StatusDocument",
            headers=("Location", "Retry-After"),
        ),
    ),
    problems=(*JOB, Conflict, Gone, TooMany),
)
HISTORY = Operation(
    summary="What happened to a job, in order",
    answers=(Answer(status=200, description="How it began, and the newest 500 entries since.", body="History"),),
    problems=JOB,
)
HEALTH = Operation(
    summary="Whether the service is up", answers=(Answer(status=200, description="It is.", body="Health"),)
)

LINK = Operation(
    summary="The file behind a signed link, without a key",
    answers=(Answer(status=303, description="A link that is good for minutes.", headers=("Location",)),),
    problems=(Forbidden, Gone),
)
LISTED = Operation(
    summary="The tenant's jobs, newest first",
    answers=(
        Answer(
            status=200, description="A page; `Link` names the next one, if any.", body="JobPage", may_bear=("Link",)
        ),
    ),
    parameters=(
        Parameter(
            name="state",
            place="query",
            description="Only jobs in this state, or in one of these.",
            schema=(("type", "string"), ("enum", tuple(State))),
            repeated=True,
            example=(State.QUEUED, State.RUNNING),
        ),
        Parameter(
            name="kind",
            place="query",
            description="Only jobs of this kind, or of one of these.",
            schema=(("type", "string"), ("pattern", f"^{NAME.pattern}$")),
            repeated=True,
            example=("gst-export",),
        ),
        Parameter(
            name="label",
            place="query",
            description="Only jobs with this label, as `name:value`, or with all of these.",
            schema=(("type", "string"), ("pattern", f"^{LABEL_NAME.pattern}:{LABEL.pattern}$")),
            repeated=True,
            example=("team:tax", "batch:month-end"),
        ),
        Parameter(
            name="limit",
            place="query",
            description="The most jobs of a page.",
            schema=(("type", "integer"), ("minimum", 1), ("maximum", MOST_LIMIT), ("default", DEFAULT_LIMIT)),
            example=50,
        ),
        Parameter(
            name="cursor", place="query", description="Where the page starts: from the `Link` of the one before."
        ),
    ),
)
KINDS = Operation(
    summary="The kinds of jobs, with JSON Schemas of their args",
    answers=(Answer(status=200, description="All kinds.", body="KindList"),),
)
WAIT = Operation(
    summary="How a job is, as soon as that changes",
    answers=(
        Answer(
            status=200,
            description="The job, when it differs from `If-None-Match`, has ended, or the time is over.",
            body="StatusDocument",
            headers=("ETag",),
            may_bear=("Retry-After",),
        ),
    ),
    problems=JOB,
    parameters=(
        Parameter(
            name="seconds",
            place="query",
            description="How long to wait at the most. When all waits that may be held are, the answer is 429 or 503.",
            schema=(("type", "integer"), ("minimum", 0), ("maximum", LONGEST_SECONDS), ("default", LONGEST_SECONDS)),
            example=1,
        ),
        IF_NONE_MATCH,
    ),
)
OPENAPI = Operation(summary="This document", answers=(Answer(status=200, description="OpenAPI 3.1.", body="OpenApi"),))

OPERATIONS: dict[str, Operation] = {
    "POST /v1/jobs": SUBMIT,
    "GET /v1/jobs/{id}": STATUS,
    "HEAD /v1/jobs/{id}": STATUS,
    "DELETE /v1/jobs/{id}": CANCEL,
    "POST /v1/jobs/{id}/retry": RETRY,
    "GET /v1/jobs/{id}/result": RESULT,
    "HEAD /v1/jobs/{id}/result": RESULT,
    "GET /v1/jobs": LISTED,
    "GET /v1/jobs/{id}/history": HISTORY,
    "GET /v1/jobs/{id}/wait": WAIT,
    "GET /v1/results/{token}": LINK,
    "HEAD /v1/results/{token}": LINK,
    "GET /v1/kinds": KINDS,
    "GET /v1/health": HEALTH,
    "GET /openapi.json": OPENAPI,
}
