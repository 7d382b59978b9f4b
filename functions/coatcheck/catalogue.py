"""The catalogue: which kinds there are, and what args each takes."""

import inspect
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from coatcheck import registry
from coatcheck.kind import Kind
from coatcheck.registry import BrokenKind


class KindDocument(Struct, frozen=True, kw_only=True):
    """A kind of jobs. `unique` names the args of which no two open jobs may have the same values."""

    name: str
    description: str
    lane: str
    route: str | UnsetType = UNSET
    unique: tuple[str, ...] | UnsetType = UNSET
    timeout_seconds: int
    max_failures: int
    args: dict[str, Any]
    """JSON Schema."""


class KindList(Struct, frozen=True, kw_only=True):
    """All kinds, by name."""

    items: list[KindDocument]


def kind_list(broken: Callable[[str, Exception], None] = lambda _, __: None) -> KindList:
    """The kinds that can be loaded; `broken` gets the names of the others and why."""
    items = []
    for name in sorted(registry.names()):
        try:
            items.append(kind_document(registry.find(name)))
        except BrokenKind as error:
            broken(name, error)
    return KindList(items=items)


def kind_document(kind: Kind) -> KindDocument:
    return KindDocument(
        name=kind.name,
        description=inspect.getdoc(inspect.getmodule(kind.handler)) or "",
        lane=kind.lane,
        route=kind.route or UNSET,
        unique=kind.unique or UNSET,
        timeout_seconds=round(kind.timeout.total_seconds()),
        max_failures=kind.retry.failures,
        args=args_schema(kind.args),
    )


def args_schema(args: type) -> dict[str, Any]:
    """The JSON Schema of a kind's args. Unknown names are refused, so it says so, at any depth."""
    schema = msgspec.json.schema(args)
    for part in schema.get("$defs", {}).values():
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    return schema
