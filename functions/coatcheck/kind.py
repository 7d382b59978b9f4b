"""Kinds of jobs: the declaration that a job's function carries, checked when its file is imported."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar, get_type_hints

import msgspec

from coatcheck.context import JobContext
from coatcheck.limiter import CapOutOfRange, checked_cap
from coatcheck.outcome import Result

# The args of kinds have nothing in common but being dataclasses.
Handler: TypeAlias = Callable[[JobContext, Any], Result | None]
Validate: TypeAlias = Callable[[Any, datetime], None]
"""A kind's own check of its args at a moment; it raises ValueError with what to do instead."""

H = TypeVar("H", bound=Handler)

ROUTE = re.compile(r"/v1(/[a-z0-9]+(-[a-z0-9]+)*)+")
ATTRIBUTE = "__kind__"


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often and after which waits a kind tries again, and what it does not try again at all.

    `failures` is the budget: the attempt that spends it is the last. `delays` are the waits after the first, second
    … failure (the last one repeats); None takes the stage's.
    """

    failures: int = 5
    delays: tuple[timedelta, ...] | None = None
    give_up_on: tuple[type[Exception], ...] = ()


DEFAULT_RETRY = Retry()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What the platform knows of a kind. `args` is a frozen dataclass."""

    name: str
    handler: Handler
    args: type
    route: str | None
    unique: tuple[str, ...]
    timeout: timedelta
    retry: Retry
    lane: str
    cap: int | None
    cap_by: tuple[str, ...]
    cap_each: int
    validate: Validate | None


class InvalidKind(Exception):
    """A kind's declaration is wrong; the message says what to write instead."""

    def __init__(self, where: str, advice: str) -> None:
        super().__init__(f"{where}: {advice}")
        self.where = where
        self.advice = advice


def job(
    *,
    route: str | None = None,
    unique: tuple[str, ...] = (),
    timeout: timedelta = timedelta(minutes=15),
    retry: Retry = DEFAULT_RETRY,
    lane: str = "interactive",
    cap: int | None = None,
    cap_by: tuple[str, ...] | None = None,
    cap_each: int | None = None,
    validate: Validate | None = None,
) -> Callable[[H], H]:
    """Declare a function as a kind of job. Its file's name is the kind: `gst_export.py` is `gst-export`.

    The function stays a plain callable. `route` is a path of its own for submits whose body is the args; `unique`
    names the args of which no two open jobs may have the same values; `timeout` bounds the running time over all
    attempts. `cap` is how many jobs of the kind may be in flight at once, of all tenants together; `cap_by` names args,
    and of a tenant's jobs with the same values of them only `cap_each` (1) may be. `validate(args, now)` raises
    ValueError for args that fit their types, but cannot be done. Raises InvalidKind.
    """

    def declare(handler: H) -> H:
        where = f"{handler.__module__}.{handler.__qualname__}"
        args = _args_type(where, handler)
        _check(where, route, timeout, retry)
        _check_names(where, args, unique=unique, cap_by=cap_by)
        _check_caps(where, cap, cap_by, cap_each)
        name = handler.__module__.rpartition(".")[2].replace("_", "-")
        kind = Kind(
            name=name,
            handler=handler,
            args=args,
            route=route,
            unique=unique,
            timeout=timeout,
            retry=retry,
            lane=lane,
            cap=cap,
            cap_by=cap_by or (),
            cap_each=cap_each or 1,
            validate=validate,
        )
        setattr(handler, ATTRIBUTE, kind)
        return handler

    return declare


def kind_of(handler: object) -> Kind | None:
    """The kind that a function was declared as."""
    kind = getattr(handler, ATTRIBUTE, None)
    return kind if isinstance(kind, Kind) else None


def _args_type(where: str, handler: Handler) -> type:
    parameters = list(inspect.signature(handler).parameters)
    if len(parameters) != 2:
        raise InvalidKind(where, "a job takes two parameters: def export(ctx: JobContext, args: Args) -> Result")
    args = get_type_hints(handler).get(parameters[1])
    if not (isinstance(args, type) and is_dataclass(args)):
        raise InvalidKind(where, f"annotate `{parameters[1]}` with a dataclass of the job's args")
    if not args.__dataclass_params__.frozen:  # type: ignore[attr-defined]  # typeshed does not know it
        raise InvalidKind(where, f"declare {args.__name__} with @dataclass(frozen=True, kw_only=True)")
    try:
        msgspec.json.schema(args)
    except TypeError as error:
        raise InvalidKind(where, f"{args.__name__} has no JSON form: {error}") from error
    return args


def _check_names(where: str, args: type, **named: tuple[str, ...] | None) -> None:
    names = {field.name for field in fields(args)}
    for option, wanted in named.items():
        if isinstance(wanted, str):
            raise InvalidKind(where, f'{option} takes several names: write {option}=("{wanted}",)')
        if unknown := [str(name) for name in wanted or () if name not in names]:
            raise InvalidKind(where, f"{option} names args that {args.__name__} does not have: {', '.join(unknown)}")
        if wanted and len(set(wanted)) < len(wanted):
            raise InvalidKind(where, f"{option} names an arg twice: {', '.join(wanted)}")


def _check_caps(where: str, cap: int | None, cap_by: tuple[str, ...] | None, cap_each: int | None) -> None:
    if cap_by is not None and not cap_by:
        raise InvalidKind(where, "cap_by names no args: leave it out, or name some")
    if cap_each is not None and cap_by is None:
        raise InvalidKind(where, "cap_each is of jobs with the same values of cap_by, and cap_by is missing")
    for option, value, otherwise in (("cap", cap, "no cap"), ("cap_each", cap_each, "1")):
        try:
            checked_cap(option, 1 if value is None else value)
        except CapOutOfRange as error:
            raise InvalidKind(where, f"{error}: leave it out for {otherwise}") from error


def _check(where: str, route: str | None, timeout: timedelta, retry: Retry) -> None:
    if route is not None and not ROUTE.fullmatch(route):
        raise InvalidKind(where, f"route {route!r} must look like /v1/reports/gst-export")
    if not isinstance(timeout, timedelta):  # whoever declares a kind may not look at types
        raise InvalidKind(where, f"timeout must be a timedelta, such as timedelta(minutes=15), not {timeout!r}")
    if timeout <= timedelta(0):
        raise InvalidKind(where, "timeout must be positive: about three times what the slowest jobs take")
    if retry.failures < 1:
        raise InvalidKind(where, "retry.failures must be at least 1: it counts the failures that end the job")
    if retry.delays is not None and (not retry.delays or min(retry.delays) < timedelta(0)):
        raise InvalidKind(where, "retry.delays needs at least one wait, none of them negative")
