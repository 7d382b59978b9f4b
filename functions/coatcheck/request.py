"""Submits as they were sent, and the job that one asks for."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from coatcheck.args import Fault, InvalidArgs, checked_args, escaped
from coatcheck.caller import Caller
from coatcheck.job import Job, State
from coatcheck.job_id import RANDOM_BYTES, new_job_id
from coatcheck.kind import Kind
from coatcheck.problem import BadRequest, Busy, TooLarge
from coatcheck.registry import BrokenKind, UnknownKind, find, names
from coatcheck.strict_json import canonical, digest
from coatcheck.timings import Timings

FIELDS = ("kind", "args", "lane", "run_at", "labels")
KEY = re.compile(r"[\x21-\x7e]{1,255}")
MOST_ARGS_BYTES = 64 * 1024
MOST_LABELS = 8
LABEL_NAME = re.compile(r"[a-z][a-z0-9._-]{0,31}")
LABEL = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,64}")


@dataclass(frozen=True, kw_only=True)
class Request:
    """A submit as it was sent, with the fields as parsed JSON."""

    fields: Mapping[str, object]
    key: str | None
    args_at: str = "/args"
    """Where the args stand in the body, as a JSON pointer; on a kind's own route they are the body."""

    @property
    def hash(self) -> str:
        """The same for requests that mean the same, whatever the order of their names."""
        return digest(dict(self.fields))

    @property
    def args(self) -> Mapping[str, object]:
        """Raises BadRequest."""
        args = self.fields.get("args", {})
        if not isinstance(args, Mapping):
            raise invalid(self.args_at, "must be an object")
        return args


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What new jobs are made with: the lanes there are, random bytes for the ids, and who lets them in."""

    timings: Timings
    lanes: tuple[str, ...]
    random: Callable[[int], bytes]
    admit: Callable[[Job, datetime], None] = lambda _, __: None
    """Raises TooMany."""


def checked_key(values: tuple[str, ...]) -> str | None:
    """The Idempotency-Key of a request's headers of that name. Raises BadRequest."""
    if not values:
        return None
    if len(values) > 1 or not KEY.fullmatch(values[0]):
        raise BadRequest("Idempotency-Key must be given once, as 1 to 255 visible ASCII characters without spaces")
    return values[0]


def requested_job(request: Request, caller: Caller, terms: Terms, now: datetime) -> tuple[Kind, Job]:
    """The job that a request asks for, and its kind. Raises BadRequest, TooLarge, Busy."""
    _check_fields(request)
    kind = _kind(request.fields.get("kind"))
    lane = request.fields.get("lane", kind.lane)
    if lane not in terms.lanes:
        raise invalid("/lane", f"must be one of {', '.join(terms.lanes)}")
    run_at = checked_run_at(request.fields.get("run_at"), now, terms.timings)
    labels = checked_labels(request.fields.get("labels", {}))
    args = canonical(request.args)
    checked = _checked_args(kind, request, json.loads(args), now)
    if len(args.encode()) > MOST_ARGS_BYTES:
        detail = f"larger than {MOST_ARGS_BYTES // 1024} KB: keep large inputs elsewhere and name them"
        raise TooLarge(f"the args are {detail}", faults=(Fault(pointer=request.args_at, detail=detail),))
    job_id = new_job_id(now, terms.random(RANDOM_BYTES))
    timings = terms.timings
    job = Job(
        id=job_id,
        tenant=caller.tenant,
        kind=kind.name,
        lane=str(lane),
        state=State.QUEUED,
        max_failures=kind.retry.failures,
        timeout=kind.timeout,
        created_at=now,
        updated_at=now,
        requested_by=caller.name,
        request_hash=request.hash,
        args=args,
        labels=labels,
        root=job_id,
        cap_value=cap_value(kind, caller.tenant, checked),
        run_at=run_at,
        ready_at=run_at or now,
        due=now + timings.due_grace if run_at is None else min(run_at, now + timings.due_grace),
        ttl=round((now + timings.give_up_after + timings.keep_row).timestamp()),
    )
    return kind, job


def cap_value(kind: Kind, tenant: str, args: object) -> str | None:
    """What a job has in common with those that its kind caps together: its tenant and the args that the kind names."""
    if not kind.cap_by:
        return None
    return digest([tenant, *(msgspec.to_builtins(getattr(args, name)) for name in kind.cap_by)])[:32]


def checked_run_at(value: object, now: datetime, timings: Timings) -> datetime | None:
    """When the job may start; None for at once, also when the time is past. Raises BadRequest."""
    if value is None:
        return None
    try:
        moment = msgspec.convert(value, datetime)
    except msgspec.ValidationError as error:
        raise invalid("/run_at", "must be an RFC 3339 time such as 2026-11-30T06:00:00+05:30") from error
    if moment.tzinfo is None:
        raise invalid("/run_at", "must say its offset from UTC, such as Z or +05:30")
    if moment > now + timings.give_up_after:
        raise invalid("/run_at", f"is more than {timings.give_up_after.days} days ahead")
    return moment if moment > now else None


def checked_labels(value: object) -> dict[str, str]:
    """Labels to find jobs by. Raises BadRequest."""
    if not isinstance(value, Mapping):
        raise invalid("/labels", "must be an object of strings")
    if len(value) > MOST_LABELS:
        raise invalid("/labels", f"has more than {MOST_LABELS} labels")
    faults = [
        Fault(pointer=f"/labels/{escaped(name)}", detail=detail)
        for name, label in value.items()
        if (detail := _label_fault(name, label)) is not None
    ]
    if faults:
        raise BadRequest("some labels cannot be kept", faults=tuple(faults))
    return {name: label for name, label in value.items() if isinstance(label, str)}


def _label_fault(name: str, label: object) -> str | None:
    if not LABEL_NAME.fullmatch(name):
        return "the name must be 1 to 32 of a-z, 0-9, dot, dash and underscore, and begin with a letter"
    if not isinstance(label, str) or not LABEL.fullmatch(label):
        return "must be a string of 1 to 64 printable characters"
    return None


def _checked_args(kind: Kind, request: Request, sent: Mapping[str, object], now: datetime) -> object:
    """The args as the kind's dataclass, if the kind itself has nothing against them now. Raises BadRequest."""
    try:
        args = checked_args(kind.args, sent, request.args_at)
    except InvalidArgs as error:
        raise BadRequest(f"the args do not fit the kind {kind.name}", faults=error.faults) from error
    try:
        if kind.validate is not None:
            kind.validate(args, now)
    except ValueError as error:
        raise invalid(request.args_at, str(error)) from error
    return args


def invalid(pointer: str, detail: str) -> BadRequest:
    return BadRequest(f"{pointer or 'the body'}: {detail}", faults=(Fault(pointer=pointer, detail=detail),))


def _check_fields(request: Request) -> None:
    unknown = tuple(
        Fault(pointer=f"/{escaped(name)}", detail=f"unknown; a job has {', '.join(FIELDS)}")
        for name in request.fields
        if name not in FIELDS
    )
    if unknown:
        raise BadRequest("the request has fields that are not known here", faults=unknown)


def _kind(name: object) -> Kind:
    if not isinstance(name, str):
        raise invalid("/kind", "required: the name of a kind, as a string")
    try:
        return find(name)
    except UnknownKind as error:
        raise invalid("/kind", f"no such kind: there are {', '.join(sorted(names()))}") from error
    except BrokenKind as error:
        detail = "this kind's file cannot be loaded, and has to be mended by whoever deploys it"
        raise Busy(detail, headers={"Retry-After": "60"}) from error
