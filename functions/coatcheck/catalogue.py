"""The catalogue: which kinds there are, and what args each takes."""

import inspect
from collections.abc import Callable, Iterator
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


Broken = Callable[[str, Exception], None]
"""Gets the name of a kind that cannot be loaded, and why."""


def loaded_kinds(broken: Broken) -> Iterator[Kind]:
    """The kinds that can be loaded, by name."""
    for name in sorted(registry.names()):
        try:
            yield registry.find(name)
        except BrokenKind as error:
            broken(name, error)


def kind_list(broken: Broken = lambda _, __: None) -> KindList:
    return KindList(items=[kind_document(kind) for kind in loaded_kinds(broken)])


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
    return schema | {"$defs": {name: closed(part) for name, part in schema.get("$defs", {}).items()}}


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object that has no other names than those."""
    return schema | {"additionalProperties": False} if "properties" in schema else schema
