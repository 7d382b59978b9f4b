"""Checks a job's args against the dataclass of its kind, fault by fault."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

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
    hints = get_type_hints(args_type, include_extras=True)
    faults: list[Fault] = [
        Fault(pointer=f"{at}/{_escaped(name)}", detail=f"unknown; the args are {', '.join(hints) or 'none'}")
        for name in value
        if name not in hints
    ]
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
    except ValueError as error:  # a kind may check its args further in __post_init__
        raise InvalidArgs((Fault(pointer=at, detail=str(error)),)) from error


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
    # Python's `$` also matches before a final line feed; JSON Schema's does not.
    if isinstance(converted, str) and converted.endswith("\n") and _anchored(hint):
        raise InvalidArgs((Fault(pointer=at, detail="ends in a line feed, which its pattern does not allow"),))
    return converted


def _anchored(hint: Any) -> bool:
    metas = [meta for meta in get_args(hint)[1:] if isinstance(meta, msgspec.Meta)]
    return any(meta.pattern is not None and meta.pattern.endswith("$") for meta in metas)


def _pointer(path: str) -> str:
    """`.a[0].b`, as msgspec names a place, as a JSON pointer."""
    return "".join(f"/{_escaped(step)}" for step in re.findall(r"[^.\[\]]+", path))


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
