"""Problems: refusals of a request as RFC 9457 describes them."""

from collections.abc import Mapping
from math import ceil
from typing import ClassVar

from coatcheck.args import Fault

MOST_FAULTS = 50
"""So many are named: an answer is not to be larger than what it answers."""

LONGEST_WAIT_SECONDS = 300
"""Things change: no client is told to stay away for longer."""


class Problem(Exception):
    """A request that is refused. The detail says what to do; faults name what is wrong where."""

    status: ClassVar[int]
    slug: ClassVar[str]
    title: ClassVar[str]

    def __init__(
        self, detail: str, *, faults: tuple[Fault, ...] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = faults
        self.headers = dict(headers or {})

    def document(self, request_id: str) -> dict[str, object]:
        """The body of the answer, `application/problem+json`."""
        body: dict[str, object] = {
            "type": f"urn:coatcheck:problem:{self.slug}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "request_id": request_id,
        }
        if self.faults:
            named = self.faults[:MOST_FAULTS]
            body["errors"] = [{"pointer": fault.pointer, "detail": fault.detail} for fault in named]
        return body


class BadRequest(Problem):
    status = 400
    slug = "bad-request"
    title = "The request is not valid"


class Unauthorized(Problem):
    status = 401
    slug = "unauthorized"
    title = "The caller is not known"


class Forbidden(Problem):
    status = 403
    slug = "forbidden"
    title = "The caller may not do this"


class NotFound(Problem):
    status = 404
    slug = "not-found"
    title = "There is no such thing"


class MethodNotAllowed(Problem):
    status = 405
    slug = "method-not-allowed"
    title = "The address does not take this method"


class Conflict(Problem):
    status = 409
    slug = "conflict"
    title = "The job's state does not allow this"


class Gone(Problem):
    status = 410
    slug = "gone"
    title = "It was there, but its time is over"


class TooLarge(Problem):
    status = 413
    slug = "too-large"
    title = "The request is too large"


class UnsupportedMediaType(Problem):
    status = 415
    slug = "unsupported-media-type"
    title = "The body is not sent as JSON"


class KeyUsed(Problem):
    status = 422
    slug = "idempotency-key-used"
    title = "The idempotency key belongs to another request"


class TooMany(Problem):
    """A limit on what may be handed in is met. Its `Retry-After` says when another try makes sense."""

    status = 429
    slug = "too-many-requests"
    title = "Too much was handed in"

    def __init__(self, detail: str, *, seconds: float = 1) -> None:
        """Whole seconds, at least one, and no longer than a client is to be kept in the dark."""
        self.seconds = max(1, min(LONGEST_WAIT_SECONDS, ceil(seconds)))
        super().__init__(detail, headers={"Retry-After": str(self.seconds)})


class TooFast(TooMany):
    slug = "rate-limit"
    title = "This tenant submits too fast"


class TooManyOpen(TooMany):
    slug = "open-jobs-limit"
    title = "This tenant has too many open jobs"


class LaneFull(TooMany):
    slug = "lane-full"
    title = "The lane has more work than it can do in time"


class Broken(Problem):
    status = 500
    slug = "internal-error"
    title = "Something went wrong here"


class Busy(Problem):
    status = 503
    slug = "unavailable"
    title = "The service cannot answer now"
