"""The JSON Schemas of what the API takes and answers, and examples of what it takes, for the OpenAPI document."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from coatcheck.catalogue import KindList, closed
from coatcheck.document import StatusDocument
from coatcheck.history import History
from coatcheck.kind import Kind
from coatcheck.listing import JobPage
from coatcheck.request import LABEL, LABEL_NAME, MOST_LABELS

PLACE = "#/components/schemas/"
JOB_REQUEST = "JobRequest"

LabelName = Annotated[str, Meta(pattern=f"^{LABEL_NAME.pattern}$")]
LabelValue = Annotated[str, Meta(pattern=f"^{LABEL.pattern}$")]
Labels = Annotated[dict[LabelName, LabelValue], Meta(max_length=MOST_LABELS, description="to find the job by")]
LaneName = Annotated[str, Meta(description="one of the deployment's; by default the kind's own")]
RunAt = Annotated[
    str, Meta(description="not before this time, up to 30 days ahead", extra_json_schema={"format": "date-time"})
]


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
    lane: LaneName | UnsetType = UNSET
    run_at: RunAt | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"{PLACE}{name}"}


def args_name(kind: Kind) -> str:
    """The name of the schema of a kind's args."""
    return f"{kind.name}.{kind.args.__name__}"


def schemas(kinds: Iterable[Kind]) -> dict[str, object]:
    """Every schema by its name."""
    types = (StatusDocument, JobPage, History, KindList, ProblemDocument, GatewayMessage, Health, JobRequest)
    _, components = msgspec.json.schema_components(types, ref_template=PLACE + "{name}")
    made: dict[str, object] = {**components, "OpenApi": {"type": "object"}}
    choices: dict[str, str] = {}
    for kind in kinds:
        _, parts = msgspec.json.schema_components([kind.args], ref_template=f"{PLACE}{kind.name}.{{name}}")
        made |= {f"{kind.name}.{name}": closed(part) for name, part in parts.items()}
        choices[kind.name] = f"{JOB_REQUEST}.{kind.name}"
        made[choices[kind.name]] = _request_for(kind, components[JOB_REQUEST])
    if choices:
        made[JOB_REQUEST] = {
            "description": components[JOB_REQUEST]["description"],
            "oneOf": [reference(name) for name in choices.values()],
            "discriminator": {
                "propertyName": "kind",
                "mapping": {kind: f"{PLACE}{name}" for kind, name in choices.items()},
            },
        }
    return made


def examples(body: str, kinds: Iterable[Kind]) -> dict[str, object]:
    """Bodies that fit a schema, by the kinds' names: what kinds give as examples of their args."""
    given = {kind: example_args(kind) for kind in kinds}
    return {
        kind.name: {"value": {"kind": kind.name, "args": args} if body == JOB_REQUEST else args}
        for kind, args in given.items()
        if args is not None and body in (JOB_REQUEST, args_name(kind))
    }


def example_args(kind: Kind) -> dict[str, object] | None:
    """The first example of each arg that has any; None if one that is required has none."""
    _, parts = msgspec.json.schema_components([kind.args])
    schema = parts[kind.args.__name__]
    given = {name: part["examples"][0] for name, part in schema["properties"].items() if part.get("examples")}
    return given if set(schema.get("required", ())) <= set(given) else None


def _request_for(kind: Kind, general: dict[str, Any]) -> dict[str, object]:
    """The schema of a request for a kind: its name is given, its args are its own."""
    properties = general["properties"] | {"kind": {"const": kind.name}, "args": reference(args_name(kind))}
    needs_args = bool(msgspec.json.schema_components([kind.args])[1][kind.args.__name__].get("required"))
    return general | {
        "title": f"{JOB_REQUEST}.{kind.name}",
        "properties": properties,
        "required": ["kind", *(["args"] if needs_args else [])],
    }
