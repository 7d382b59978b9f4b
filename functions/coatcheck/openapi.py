"""The OpenAPI 3.1 document, made from the types that the API itself works with."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coatcheck.job_id import FORM
from coatcheck.kind import Kind
from coatcheck.operation import ALWAYS, OPERATIONS, PRIVATE, SUBMIT, Answer, Operation
from coatcheck.parameter import ACTING_FOR, Parameter
from coatcheck.problem import Busy, Conflict, Problem, TooMany, Unauthorized, UnsupportedMediaType
from coatcheck.route import ROUTES, Route, kind_route
from coatcheck.schemas import args_name, examples, reference, schemas

VERSION = "1"
DESCRIPTION = (
    "Long-running jobs: hand in work, keep the ticket, come back for the result.\n\n"
    "Whatever is refused is answered with a problem document (RFC 9457) that says what to do. A method that an address"
    " does not take is a 405 with `Allow`, an address that is not described here a 404. Only what the gateway answers"
    " by itself, before the service is asked, is a `GatewayMessage`."
)
REQUEST_ID = "Coatcheck-Request-Id"
HEADERS: Mapping[str, dict[str, object]] = {
    "Accept-Encoding": {"description": "How a body may be encoded.", "schema": {"type": "string"}},
    "Accept-Post": {"description": "What a body may be.", "schema": {"type": "string"}},
    REQUEST_ID: {"description": "Names the answer in the logs.", "schema": {"type": "string"}},
    "ETag": {"description": "Equal for documents that are equal to a client.", "schema": {"type": "string"}},
    "Idempotent-Replayed": {
        "description": "The request was accepted before, under the same Idempotency-Key.",
        "schema": {"const": "true"},
    },
    "Link": {"description": 'The next page: `<…>; rel="next"` (RFC 8288).', "schema": {"type": "string"}},
    "Location": {"description": "Where to go on.", "schema": {"type": "string", "format": "uri-reference"}},
    "Retry-After": {
        "description": "Seconds until it is worth asking again.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": {"description": "How to say who is asking.", "schema": {"type": "string"}},
}
REFUSAL_HEADERS: Mapping[type[Problem], tuple[str, ...]] = {
    Busy: ("Retry-After",),
    Conflict: ("Retry-After",),
    TooMany: ("Retry-After",),
    Unauthorized: ("WWW-Authenticate",),
    UnsupportedMediaType: ("Accept-Encoding", "Accept-Post"),
}
"""What some answers of a refusal bear."""

PATH_PARTS: Mapping[str, dict[str, object]] = {"id": {"pattern": f"^{FORM.pattern}$"}}
GATEWAY: Mapping[int, str] = {
    401: "The caller is not known",
    413: "The request is too large",
    429: "Too many requests at once",
    500: "Something went wrong here",
    503: "The service cannot answer now",
}
"""What the gateway may answer by itself: 401 without an Authorization header, 413 to a body, the others to anybody."""


def openapi(kinds: Iterable[Kind]) -> dict[str, object]:
    """The document for the API with these kinds."""
    known = list(kinds)
    own = {kind.route: kind for kind in known if kind.route is not None}
    paths: dict[str, dict[str, object]] = {}
    for route in (*ROUTES, *map(kind_route, own)):
        for method in route.methods:
            operation = _operation(route, method, own)
            described = _described(route, method, operation)
            if operation.body is not None:
                described["requestBody"] = _request_body(operation.body, known)
            paths.setdefault(route.path, {})[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Coatcheck",
            "version": VERSION,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas(known),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "An API key, `cc_…`, or a token (JWT)."}
            },
        },
    }


def _operation(route: Route, method: str, own: Mapping[str, Kind]) -> Operation:
    if (kind := own.get(route.path)) is not None:
        return replace(SUBMIT, summary=f"Hand in a job of the kind {kind.name}", body=args_name(kind))
    return OPERATIONS[f"{method} {route.path}"]


def _described(route: Route, method: str, operation: Operation) -> dict[str, object]:
    problems = {each.status: each for each in (*operation.problems, *ALWAYS, *(() if route.public else PRIVATE))}
    gateway = {429, 500, 503} | (set() if route.public else {401}) | (set() if operation.body is None else {413})
    empty = method == "HEAD"
    answers = {str(answer.status): _answer(answer, empty=empty) for answer in operation.answers}
    refusals = {
        str(status): _refusal(status, problems.get(status), gateway=status in gateway, empty=empty)
        for status in problems.keys() | gateway
    }
    parameters = operation.parameters if route.public else (*operation.parameters, ACTING_FOR)
    return {
        "operationId": _identifier(method, route.path),
        "summary": operation.summary,
        "parameters": [*_path_parameters(route.path), *map(_parameter, parameters)],
        "responses": dict(sorted((answers | refusals).items())),
        "security": [] if route.public else [{"key": []}],
    }


def _request_body(schema: str, kinds: Iterable[Kind]) -> dict[str, object]:
    shown: dict[str, object] = {"schema": reference(schema)}
    if given := examples(schema, kinds):
        shown["examples"] = given
    return {"required": True, "content": {"application/json": shown}}


def _path_parameters(path: str) -> list[dict[str, object]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", **PATH_PARTS.get(name, {})}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _parameter(parameter: Parameter) -> dict[str, object]:
    """Repeated parameters are an array here; `style` and `explode` say what OpenAPI assumes anyway."""
    schema: dict[str, object] = dict(parameter.schema)
    shown: dict[str, object] = {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "schema": {"type": "array", "items": schema} if parameter.repeated else schema,
    }
    if parameter.repeated:
        shown |= {"style": "form", "explode": True}
    if parameter.example is not None:
        shown["example"] = parameter.example
    return shown


def _answer(answer: Answer, *, empty: bool) -> dict[str, object]:
    shown: dict[str, object] = {
        "description": answer.description,
        "headers": _headers((REQUEST_ID, *answer.headers), answer.may_bear),
    }
    if answer.body is not None and not empty:
        shown["content"] = _content("application/json", answer.body)
    return shown


def _refusal(status: int, problem: type[Problem] | None, *, gateway: bool, empty: bool) -> dict[str, object]:
    """A status as the service answers it, the gateway by itself, or either."""
    shown: dict[str, object] = {"description": GATEWAY[status] if problem is None else problem.title}
    content: dict[str, object] = {}
    if problem is not None:
        bears = REFUSAL_HEADERS.get(problem, ())
        shown["headers"] = _headers((), (REQUEST_ID, *bears)) if gateway else _headers((REQUEST_ID,), bears)
        content |= _content("application/problem+json", "ProblemDocument")
    if gateway:
        content |= _content("application/json", "GatewayMessage")
    if not empty:
        shown["content"] = content
    return shown


def _headers(always: Iterable[str], sometimes: Iterable[str]) -> dict[str, dict[str, object]]:
    return {name: HEADERS[name] | {"required": True} for name in always} | {name: HEADERS[name] for name in sometimes}


def _content(media_type: str, schema: str) -> dict[str, object]:
    return {media_type: {"schema": reference(schema)}}


def _identifier(method: str, path: str) -> str:
    words = re.findall(r"[a-z]+", path.removeprefix("/v1"))
    return method.lower() + "".join(word.capitalize() for word in words)
