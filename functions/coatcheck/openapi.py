"""The OpenAPI 3.1 document, made from the types that the API itself works with."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from coatcheck.catalogue import KindList, closed
from coatcheck.document import StatusDocument
from coatcheck.kind import Kind
from coatcheck.listing import JobPage
from coatcheck.operation import ACTING_FOR, ALWAYS, OPERATIONS, PRIVATE, SUBMIT, Answer, Operation, Parameter
from coatcheck.problem import Problem
from coatcheck.route import ROUTES, Route, kind_route

VERSION = "1"
TEMPLATE = "#/components/schemas/{name}"
HEADERS: Mapping[str, dict[str, object]] = {
    "ETag": {"description": "Equal for documents that are equal to a client.", "schema": {"type": "string"}},
    "Location": {"description": "Where to go on.", "schema": {"type": "string", "format": "uri-reference"}},
    "Retry-After": {
        "description": "Seconds until it is worth asking again.",
        "schema": {"type": "integer", "minimum": 1},
    },
}


class FaultPart(Struct, frozen=True, kw_only=True):
    """What is wrong where."""

    pointer: str
    detail: str


class ProblemDocument(Struct, frozen=True, kw_only=True):
    """Why a request was refused, and what to do (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[FaultPart] | UnsetType = UNSET


class GatewayMessage(Struct, frozen=True, kw_only=True):
    """What the gateway answers by itself, before the service is asked."""

    message: str


class Health(Struct, frozen=True, kw_only=True):
    status: str


class JobRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job: its kind, the kind's args, and when and how to run it."""

    kind: str
    args: dict[str, Any] | UnsetType = UNSET
    lane: str | UnsetType = UNSET
    run_at: str | UnsetType = UNSET
    labels: dict[str, str] | UnsetType = UNSET


def openapi(kinds: Iterable[Kind]) -> dict[str, object]:
    """The document for the API with these kinds."""
    known = list(kinds)
    own = {kind.route: kind for kind in known if kind.route is not None}
    paths: dict[str, dict[str, object]] = {}
    for route in (*ROUTES, *map(kind_route, own)):
        for method in route.methods:
            operation = _operation(route, method, own)
            paths.setdefault(route.path, {})[method.lower()] = _described(route, method, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Coatcheck",
            "version": VERSION,
            "description": "Long-running jobs: hand in work, keep the ticket, come back for the result.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(known),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "An API key, `cc_…`, or a token (JWT)."}
            },
        },
    }


def _operation(route: Route, method: str, own: Mapping[str, Kind]) -> Operation:
    if (kind := own.get(route.path)) is not None:
        return replace(SUBMIT, summary=f"Hand in a job of the kind {kind.name}", body=args_schema(kind))
    return OPERATIONS[f"{method} {route.path}"]


def args_schema(kind: Kind) -> str:
    """The name of the schema of a kind's args."""
    return f"Args.{kind.name}"


def _described(route: Route, method: str, operation: Operation) -> dict[str, object]:
    problems = (*operation.problems, *ALWAYS, *(() if route.public else PRIVATE))
    answers = {str(answer.status): _answer(answer, empty=method == "HEAD") for answer in operation.answers}
    refusals = {str(problem.status): _refusal(problem, empty=method == "HEAD") for problem in problems}
    parameters = operation.parameters if route.public else (*operation.parameters, ACTING_FOR)
    described: dict[str, object] = {
        "operationId": _identifier(method, route.path),
        "summary": operation.summary,
        "parameters": [*_path_parameters(route.path), *map(_parameter, parameters)],
        "responses": dict(sorted((answers | refusals).items())),
        "security": [] if route.public else [{"key": []}],
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _content("application/json", operation.body)}
    return described


def _path_parameters(path: str) -> list[dict[str, object]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]


def _parameter(parameter: Parameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _answer(answer: Answer, *, empty: bool) -> dict[str, object]:
    shown: dict[str, object] = {"description": answer.description}
    if answer.headers:
        shown["headers"] = {name: HEADERS[name] for name in answer.headers}
    if answer.body is not None and not empty:
        shown["content"] = _content("application/json", answer.body)
    return shown


def _refusal(problem: type[Problem], *, empty: bool) -> dict[str, object]:
    shown: dict[str, object] = {"description": problem.title}
    if not empty:
        content = _content("application/problem+json", "ProblemDocument")
        if problem.status in (401, 403, 503):
            content |= _content("application/json", "GatewayMessage")
        shown["content"] = content
    return shown


def _content(media_type: str, schema: str) -> dict[str, object]:
    return {media_type: {"schema": {"$ref": TEMPLATE.format(name=schema)}}}


def _schemas(kinds: Iterable[Kind]) -> dict[str, object]:
    types = (StatusDocument, JobPage, KindList, ProblemDocument, GatewayMessage, Health, JobRequest)
    _, components = msgspec.json.schema_components(types, ref_template=TEMPLATE)
    schemas: dict[str, object] = {**components, "OpenApi": {"type": "object"}}
    for kind in kinds:
        (reference,), parts = msgspec.json.schema_components([kind.args], ref_template=TEMPLATE)
        name = str(reference["$ref"]).rpartition("/")[2]
        schemas[args_schema(kind)] = closed(parts.pop(name))
        schemas |= {part: closed(schema) for part, schema in parts.items()}
    return schemas


def _identifier(method: str, path: str) -> str:
    words = re.findall(r"[a-z]+", path.removeprefix("/v1"))
    return method.lower() + "".join(word.capitalize() for word in words)
