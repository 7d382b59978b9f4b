"""Submits: a request becomes a job once, however often it comes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from coatcheck.args import Fault, InvalidArgs, checked_args
from coatcheck.job import Job, State, args_key, job_key, job_of, row_of
from coatcheck.job_id import new_job_id
from coatcheck.kind import Kind
from coatcheck.problem import BadRequest, Busy, Conflict, KeyUsed, Problem
from coatcheck.registry import BrokenKind, UnknownKind, find
from coatcheck.row import Row
from coatcheck.store import Store, TransactionRefused
from coatcheck.strict_json import canonical, digest
from coatcheck.timings import Timings
from coatcheck.write import Key, Put, Table, absent, any_of, at_most, is_, put

FIELDS = ("kind", "args", "lane")
KEY = re.compile(r"[\x21-\x7e]{1,255}")
INLINE_ARGS_BYTES = 512
MOST_ARGS_BYTES = 64 * 1024
MOST_TRIES = 5


class Random(Protocol):
    def __call__(self, count: int, /) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks, as the credential says. `name` is fit for logs and documents."""

    tenant: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """A submit as it was sent, with the fields as parsed JSON."""

    fields: Mapping[str, object]
    key: str | None

    @property
    def hash(self) -> str:
        """The same for requests that mean the same, whatever the order of their names."""
        return digest(dict(self.fields))


@dataclass(frozen=True, kw_only=True)
class Counter:
    """What a submit works with."""

    store: Store
    timings: Timings
    lanes: tuple[str, ...]
    random: Random


@dataclass(frozen=True, kw_only=True)
class Accepted:
    job: Job
    replayed: bool


def checked_key(values: tuple[str, ...]) -> str | None:
    """The Idempotency-Key of a request's headers of that name. Raises BadRequest."""
    if not values:
        return None
    if len(values) > 1 or not KEY.fullmatch(values[0]):
        raise BadRequest("Idempotency-Key must be given once, as 1 to 255 visible ASCII characters without spaces")
    return values[0]


def submit(counter: Counter, caller: Caller, request: Request, now: datetime) -> Accepted:
    """Accept a job, or find the one that this request became before. Raises Problem, Unavailable.

    A refusal may depend on the version or the time, so it looks first whether the request was accepted before.
    """
    try:
        kind, job = _new_job(counter, caller, request, now)
    except Problem:
        if (known := _known(counter, caller, request, now)) is not None:
            return known
        raise
    for _ in range(MOST_TRIES):
        if (accepted := _try(counter, caller, request, kind, job, now)) is not None:
            return accepted
    raise Busy("the job's keys are changing hands: send the request again", headers={"Retry-After": "1"})


def idempotency_key(tenant: str, key: str) -> Key:
    """Hashed, so that no key can look like another tenant's."""
    return Key(table=Table.IDEMPOTENCY, id=f"key#{tenant}#{sha256(key.encode()).hexdigest()}")


def natural_key(job: Job, kind: Kind, args: Mapping[str, object]) -> Key | None:
    """The key of which only one open job may exist, if the kind names one."""
    if not kind.unique:
        return None
    value = digest([args.get(name) for name in kind.unique])
    return Key(table=Table.IDEMPOTENCY, id=f"unique#{job.tenant}#{kind.name}#{value}")


def _new_job(counter: Counter, caller: Caller, request: Request, now: datetime) -> tuple[Kind, Job]:
    args = _checked_fields(request)
    kind = _kind(str(request.fields["kind"]))
    lane = request.fields.get("lane", kind.lane)
    if lane not in counter.lanes:
        raise _bad("/lane", f"must be one of {', '.join(counter.lanes)}")
    try:
        checked_args(kind.args, args)
    except InvalidArgs as error:
        raise BadRequest(f"the args do not fit the kind {kind.name}", faults=error.faults) from error
    text = canonical(args)
    if len(text.encode()) > MOST_ARGS_BYTES:
        raise _bad("/args", f"larger than {MOST_ARGS_BYTES // 1024} KB: upload large inputs and name them instead")
    job_id = new_job_id(now, counter.random(10))
    timings = counter.timings
    job = Job(
        id=job_id,
        tenant=caller.tenant,
        kind=kind.name,
        lane=str(lane),
        state=State.QUEUED,
        max_failures=kind.retry.failures,
        created_at=now,
        updated_at=now,
        requested_by=caller.name,
        request_hash=request.hash,
        args=text,
        root=job_id,
        due=now + timings.due_grace,
        ttl=round((now + timings.give_up_after + timings.keep_row).timestamp()),
    )
    return kind, job


def _checked_fields(request: Request) -> Mapping[str, object]:
    unknown = tuple(
        Fault(pointer=f"/{name}", detail=f"unknown; a job has {', '.join(FIELDS)}")
        for name in request.fields
        if name not in FIELDS
    )
    if unknown:
        raise BadRequest("the request has fields that are not known here", faults=unknown)
    if not isinstance(request.fields.get("kind"), str):
        raise _bad("/kind", "required: the name of a kind, as a string")
    args = request.fields.get("args", {})
    if not isinstance(args, Mapping):
        raise _bad("/args", "must be an object")
    return args


def _kind(name: str) -> Kind:
    try:
        return find(name)
    except UnknownKind as error:
        raise _bad("/kind", "no such kind") from error
    except BrokenKind as error:
        raise Busy("this kind cannot be loaded now", headers={"Retry-After": "60"}) from error


def _bad(pointer: str, detail: str) -> BadRequest:
    return BadRequest(f"{pointer}: {detail}", faults=(Fault(pointer=pointer, detail=detail),))


def _try(counter: Counter, caller: Caller, request: Request, kind: Kind, job: Job, now: datetime) -> Accepted | None:
    """One transaction. None if what refused it is gone meanwhile: then try again."""
    writes: list[Put] = _job_writes(job)
    key = None if request.key is None else idempotency_key(caller.tenant, request.key)
    unique = natural_key(job, kind, request_args(request))
    if key is not None:
        writes.append(_key_write(key, job, request, now, counter.timings))
    if unique is not None:
        writes.append(_unique_write(unique, job, now, counter.timings))
    try:
        counter.store.transact(writes)
    except TransactionRefused as refusal:
        refused = {writes[position].key: old for position, old in refusal.refused.items()}
    else:
        return Accepted(job=job, replayed=False)
    if (echo := refused.get(job.key)) is not None and job_of(echo).request_hash == job.request_hash:
        return Accepted(job=job_of(echo), replayed=False)
    if key is not None and key in refused:
        return _known(counter, caller, request, now)
    if unique is not None and unique in refused:
        return _holder(counter, caller, request, job, unique, now)
    return None


def request_args(request: Request) -> Mapping[str, object]:
    args = request.fields.get("args", {})
    return args if isinstance(args, Mapping) else {}


def _job_writes(job: Job) -> list[Put]:
    """The job's row, and beside it its args when they are large: every update bills the whole row."""
    row = row_of(job)
    if job.args is None or len(job.args.encode()) <= INLINE_ARGS_BYTES:
        return [Put(key=job.key, row=row, when=(absent("state"),))]
    args = row.pop("args")
    return [
        Put(key=job.key, row=row, when=(absent("state"),)),
        put(args_key(job.id), {"args": args, "ttl": job.ttl}, absent("args")),
    ]


def _key_write(key: Key, job: Job, request: Request, now: datetime, timings: Timings) -> Put:
    return put(
        key,
        {"job_id": job.id, "hash": request.hash, "ttl": round((now + timings.keep_key).timestamp())},
        any_of(absent("job_id"), at_most("ttl", round(now.timestamp()))),
    )


def _unique_write(key: Key, job: Job, now: datetime, timings: Timings, holder: str | None = None) -> Put:
    """Take a natural key that is free, expired, or still held by the job `holder`, which has ended."""
    free = (absent("job_id"), at_most("ttl", round(now.timestamp())))
    ttl = job.ttl + round(timings.keep_row.total_seconds())
    return put(key, {"job_id": job.id, "ttl": ttl}, any_of(*free, *([] if holder is None else [is_("job_id", holder)])))


def _known(counter: Counter, caller: Caller, request: Request, now: datetime) -> Accepted | None:
    """The job that this key became before. Raises KeyUsed if that was another request."""
    if request.key is None:
        return None
    row = counter.store.get(idempotency_key(caller.tenant, request.key))
    if row is None or _expired(row, now):
        return None
    if row["hash"] != request.hash:
        raise KeyUsed("this Idempotency-Key was used for a different request: take a new key for a new request")
    job = counter.store.get(job_key(str(row["job_id"])))
    return None if job is None else Accepted(job=job_of(job), replayed=True)


def _holder(
    counter: Counter, caller: Caller, request: Request, job: Job, unique: Key, now: datetime
) -> Accepted | None:
    """What to do about the job that holds the natural key: answer it, refuse, or take the key over."""
    row = counter.store.get(unique)
    if row is None or _expired(row, now):
        return None
    held = counter.store.get(job_key(str(row["job_id"])))
    if held is not None and not (holder := job_of(held)).state.final:
        return _joined(counter, caller, request, job, holder, now)
    return _taken_over(counter, caller, request, job, unique, str(row["job_id"]), now)


def _joined(
    counter: Counter, caller: Caller, request: Request, job: Job, holder: Job, now: datetime
) -> Accepted | None:
    """An open job with the same args answers this request, too, and the caller's key points to it."""
    if _args_of(counter.store, holder) != job.args:
        raise Conflict(f"the open job {holder.id} has the same natural key and other args: wait for it or cancel it")
    if request.key is not None:
        key = idempotency_key(caller.tenant, request.key)
        try:
            counter.store.transact([_key_write(key, holder, request, now, counter.timings)])
        except TransactionRefused:
            return None
    return Accepted(job=holder, replayed=False)


def _taken_over(
    counter: Counter, caller: Caller, request: Request, job: Job, unique: Key, holder: str, now: datetime
) -> Accepted | None:
    writes = [*_job_writes(job), _unique_write(unique, job, now, counter.timings, holder)]
    if request.key is not None:
        key = idempotency_key(caller.tenant, request.key)
        writes.append(_key_write(key, job, request, now, counter.timings))
    try:
        counter.store.transact(writes)
    except TransactionRefused:
        return None
    return Accepted(job=job, replayed=False)


def _args_of(store: Store, job: Job) -> str | None:
    if job.args is not None:
        return job.args
    row = store.get(args_key(job.id))
    return None if row is None else str(row["args"])


def _expired(row: Row, now: datetime) -> bool:
    """An expired item that the table has not dropped yet counts as absent."""
    ttl = row.get("ttl")
    return isinstance(ttl, int) and ttl <= now.timestamp()
