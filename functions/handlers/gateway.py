"""HTTP as API Gateway hands it over: requests as values, answers and problems as its responses."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aws_lambda_powertools import Logger

from coatcheck.aws.call_count import taken
from coatcheck.caller import Caller, caller_of
from coatcheck.problem import BadRequest, Broken, Busy, Problem, TooLarge, UnsupportedMediaType
from coatcheck.store import Unavailable
from coatcheck.strict_json import NotStrictJson, parsed

logger = Logger()

MOST_BODY_BYTES = 256 * 1024
Event: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    """A request of an HTTP API (payload format 2.0). Header names are lower case."""

    method: str
    route: str
    """The route that fitted, such as `GET /v1/jobs/{id}`; `$default` if none did."""

    address: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    path: Mapping[str, str]
    body: bytes
    request_id: str
    authorizer: Mapping[str, str]

    @property
    def caller(self) -> Caller:
        """Who asks, and for whom. Raises Unauthorized, Forbidden, BadRequest, Busy."""
        return caller_of(self.authorizer, self.headers)

    def json(self) -> dict[str, object]:
        """The body, a JSON object. Raises UnsupportedMediaType, TooLarge, BadRequest."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise UnsupportedMediaType("send the body as application/json", headers={"Accept-Post": "application/json"})
        if self.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise UnsupportedMediaType(
                "send the body as it is, not compressed", headers={"Accept-Encoding": "identity"}
            )
        if len(self.body) > MOST_BODY_BYTES:
            raise TooLarge(f"the body is larger than {MOST_BODY_BYTES // 1024} KB")
        try:
            value = parsed(self.body)
        except NotStrictJson as error:
            raise BadRequest(f"the body is not JSON as it is taken here: {error}") from error
        if not isinstance(value, dict):
            raise BadRequest("the body must be a JSON object")
        return value


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """An answer; a body of None is an empty one."""

    status: int
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"


def answered(event: Event, answer: Callable[[HttpRequest], HttpAnswer]) -> dict[str, object]:
    """API Gateway's form of what `answer` says to an event's request. Problems become problem+json."""
    request_id = str(event.get("requestContext", {}).get("requestId", ""))
    try:
        made = answer(_request(event))
    except Problem as problem:
        made = _problem(problem, request_id)
    except Unavailable as error:
        logger.warning("a service did not answer", code=error.code, request_id=request_id)
        busy = Busy("a service behind this one does not answer: try again", headers={"Retry-After": "2"})
        made = _problem(busy, request_id)
    except Exception:  # the one request: whatever went wrong, the client gets a problem document
        logger.exception("a request failed", request_id=request_id)
        made = _problem(Broken("it is logged under the request id; try again later"), request_id)
    who = _who(event)
    logger.info(
        "answered",
        route=event.get("routeKey"),
        status=made.status,
        request_id=request_id,
        calls=taken(),
        tenant=who.get("tenant"),
        caller=who.get("name"),
    )
    return _response(made, request_id)


def _who(event: Event) -> Mapping[str, str]:
    """Who asked, for the log: the tenant, and of the credential its name."""
    credential = _credential(event)
    try:
        caller = caller_of(credential, _headers(event))
    except Problem:
        return credential
    return {"tenant": caller.tenant, "name": caller.name}


def _credential(event: Event) -> Mapping[str, str]:
    """What the authorizer found out."""
    return ((event.get("requestContext", {}).get("authorizer") or {}).get("lambda")) or {}


def _headers(event: Event) -> Mapping[str, str]:
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def _request(event: Event) -> HttpRequest:
    context = event["requestContext"]
    body = event.get("body") or ""
    return HttpRequest(
        method=context["http"]["method"],
        route=event["routeKey"],
        address=event.get("rawPath", ""),
        headers=_headers(event),
        query=event.get("queryStringParameters") or {},
        path=event.get("pathParameters") or {},
        body=_decoded(body) if event.get("isBase64Encoded") else body.encode(errors="surrogatepass"),
        request_id=context.get("requestId", ""),
        authorizer=_credential(event),
    )


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise BadRequest("the body cannot be decoded") from error


def _problem(problem: Problem, request_id: str) -> HttpAnswer:
    return HttpAnswer(
        status=problem.status,
        body=problem.document(request_id),
        headers=problem.headers,
        media_type="application/problem+json",
    )


def _response(answer: HttpAnswer, request_id: str) -> dict[str, object]:
    headers = {"Coatcheck-Request-Id": request_id, "Cache-Control": "no-store", **answer.headers}
    if answer.body is None:
        return {"statusCode": answer.status, "headers": headers, "body": ""}
    text = json.dumps(answer.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"statusCode": answer.status, "headers": {"Content-Type": answer.media_type, **headers}, "body": text}
