"""Checks a job's args against the dataclass of its kind, fault by fault."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong where; `pointer` is a JSON pointer into the request's body."""

    pointer: str
    detail: str


class InvalidArgs(Exception):
    """The args do not fit the kind."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(f"{fault.pointer}: {fault.detail}" for fault in faults))
        self.faults = faults


def checked_args(args_type: type, value: Mapping[str, object], at: str = "/args") -> Any:
    """The args as a value of the kind's dataclass. Raises InvalidArgs with every fault of the outer level."""
    hints = _hints(args_type)
    faults = list(_unknown(args_type, value, at))
    known: dict[str, object] = {}
    for each in fields(args_type):
        if each.name not in value:
            if _required(each):
                faults.append(Fault(pointer=f"{at}/{each.name}", detail="required, but missing"))
            continue
        try:
            known[each.name] = _converted(value[each.name], hints[each.name], f"{at}/{each.name}")
        except InvalidArgs as error:
            faults.extend(error.faults)
    if faults:
        raise InvalidArgs(tuple(faults))
    try:
        return args_type(**known)
    except (ValueError, TypeError) as error:  # a kind may check its args further in __post_init__
        raise InvalidArgs((Fault(pointer=at, detail=str(error)),)) from error


@cache
def _hints(args_type: type) -> dict[str, Any]:
    return get_type_hints(args_type, include_extras=True)


def _unknown(args_type: type, value: Mapping[str, object], at: str) -> Iterator[Fault]:
    names = [each.name for each in fields(args_type)]
    for name in value:
        if name not in names:
            detail = f"unknown; the args are {', '.join(names) or 'none'}"
            yield Fault(pointer=f"{at}/{escaped(name)}", detail=detail)


def _required(each: "Field[Any]") -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _converted(value: object, hint: Any, at: str) -> object:
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if isinstance(plain, type) and is_dataclass(plain) and isinstance(value, Mapping):
        return checked_args(plain, value, at)
    try:
        converted: object = msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        detail, _, path = str(error).partition(" - at `$")
        raise InvalidArgs((Fault(pointer=at + _pointer(path.rstrip("`")), detail=detail),)) from error
    if faults := tuple(_overlooked(value, hint, at)):
        raise InvalidArgs(faults)
    return converted


def _overlooked(value: object, hint: Any, at: str) -> Iterator[Fault]:
    """What msgspec lets pass at any depth: unknown names in dataclasses, and a line feed after a pattern's end."""
    parts = get_args(hint)
    # Python's `$` also matches before a final line feed; JSON Schema's does not.
    if isinstance(value, str) and value.endswith("\n") and any(_anchored(part) for part in parts):
        yield Fault(pointer=at, detail="ends in a line feed, which its pattern does not allow")
    if isinstance(value, Mapping) and isinstance(hint, type) and is_dataclass(hint):
        yield from _unknown(hint, value, at)
    for step, item, inner in _inside(value, hint):
        yield from _overlooked(item, inner, f"{at}/{escaped(step)}")
    if get_origin(hint) in (Annotated, Union, UnionType):
        for part in parts:
            yield from _overlooked(value, part, at)


def _inside(value: object, hint: Any) -> Iterator[tuple[str, object, Any]]:
    """What a value holds: where, what, and the hint of it."""
    origin, parts = get_origin(hint), get_args(hint)
    match value:
        case Mapping() if isinstance(hint, type) and is_dataclass(hint):
            hints = _hints(hint)
            yield from ((name, item, hints[name]) for name, item in value.items() if name in hints)
        case Mapping() if origin is dict:
            yield from ((name, item, parts[1]) for name, item in value.items())
        case list() if origin is tuple and Ellipsis not in parts:
            pairs = zip(value, parts, strict=False)
            yield from ((str(position), item, part) for position, (item, part) in enumerate(pairs))
        case list() if origin in (list, tuple, set, frozenset):
            yield from ((str(position), item, parts[0]) for position, item in enumerate(value))


def _anchored(meta: object) -> bool:
    return isinstance(meta, msgspec.Meta) and meta.pattern is not None and meta.pattern.endswith("$")


def _pointer(path: str) -> str:
    """`.a[0].b`, as msgspec names a place, as a JSON pointer."""
    return "".join(f"/{escaped(step)}" for step in re.findall(r"[^.\[\]]+", path))


def escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
