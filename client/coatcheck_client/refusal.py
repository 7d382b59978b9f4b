"""Answers that are no help: refusals, and what Coatcheck would never say."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from coatcheck_client.api import Answer
from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

T = TypeVar("T")

_PASSING = frozenset({429, 500, 502, 503, 504})


class FieldError(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong where in a request; `pointer` is a JSON pointer into its body, or `?name` of a parameter."""

    pointer: str = ""
    detail: str = ""


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """RFC 9457. The gateway's own errors have a `message` and no more."""

    type: str = "about:blank"
    title: str = ""
    detail: str = ""
    errors: tuple[FieldError, ...] = ()
    request_id: str = ""
    message: str = ""


class Refused(Trouble):
    """The API answered with a problem (RFC 9457), the gateway in front of it or S3 behind it with an error of its own.

    `status`, `type`, `title`, `detail`, `errors` and `request_id` are the problem's; empty if it has none.
    """

    exit_code = ExitCode.REFUSED

    def __init__(self, answer: Answer, *, passes: bool = False) -> None:
        problem = _problem(answer.body)
        self.answer = answer
        self.status = answer.status
        self.type = problem.type
        self.title = problem.title or problem.message
        self.detail = problem.detail
        self.errors = problem.errors
        self.request_id = problem.request_id or answer.headers.get("coatcheck-request-id", "")
        self.passes = passes or answer.status in _PASSING
        self.retry_after = answer.retry_after
        # with every bad field named, the summary of them says nothing more
        details = [f"{error.pointer}: {error.detail}" for error in self.errors] or [self.detail]
        lines = [f"{self.status} {self.title or 'no reason given'}", *filter(None, details)]
        super().__init__("\n".join(lines), hint=_hint(self.status) if self.title else None)


class NotUnderstood(Trouble):
    """The answer is not what Coatcheck's API says: the address may be another server's."""

    exit_code = ExitCode.NOT_RUNNING

    def __init__(self, answer: Answer, why: object) -> None:
        super().__init__(f"{answer.status}, but not an answer of Coatcheck: {why}", hint="is the API's address right?")
        self.answer = answer


def accepted(answer: Answer) -> Answer:
    """Raises Refused; Unreachable for an answer that was cut within its headers, so that its length is unknown."""
    if answer.status >= 300:
        raise Refused(answer)
    if not answer.body:
        raise Unreachable("the connection broke within the answer")
    return answer


def understood(answer: Answer, read: Callable[[Any], T]) -> T:
    """What an accepted answer says: `read` makes it from the JSON. Raises Refused, NotUnderstood."""
    try:
        return read(msgspec.json.decode(accepted(answer).body))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotUnderstood(answer, error) from error


def _problem(body: bytes) -> _Problem:
    try:
        return msgspec.json.decode(body, type=_Problem)
    except (msgspec.DecodeError, RecursionError):
        return _Problem()


def _hint(status: int) -> str | None:
    match status:
        case 401 | 403:
            return "give an API key: --api-key, COATCHECK_API_KEY, or --tenant on the local stack"
        case _:
            return None
