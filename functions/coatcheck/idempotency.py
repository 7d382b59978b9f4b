"""Keys that make a request one job: the caller's idempotency key, and a kind's natural key."""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

import msgspec

from coatcheck.args import InvalidArgs, checked_args
from coatcheck.job import Job, args_key, job_key, job_of
from coatcheck.kind import Kind
from coatcheck.problem import Conflict, KeyUsed
from coatcheck.request import Request
from coatcheck.row import Row
from coatcheck.store import Store
from coatcheck.strict_json import digest
from coatcheck.timings import Timings
from coatcheck.write import AnyOf, Condition, Key, Put, Table, absent, any_of, at_most, is_, put


def caller_key(tenant: str, request: Request) -> Key | None:
    """Where the request's Idempotency-Key is kept. Hashed, so that no key can look like another tenant's."""
    if request.key is None:
        return None
    return Key(table=Table.IDEMPOTENCY, id=f"key#{tenant}#{sha256(request.key.encode()).hexdigest()}")


def natural_key(kind: Kind, job: Job) -> Key | None:
    """Where it is kept which open job has the values of the args that the kind names as unique, defaults included."""
    if not kind.unique or job.args is None:
        return None
    args = checked_args(kind.args, json.loads(job.args))
    value = digest([msgspec.to_builtins(getattr(args, name)) for name in kind.unique])
    return Key(table=Table.IDEMPOTENCY, id=f"unique#{job.tenant}#{kind.name}#{value}")


def caller_key_write(key: Key, job: Job, request: Request, now: datetime, timings: Timings) -> Put:
    ttl = round((now + timings.keep_key).timestamp())
    return put(key, {"job_id": job.id, "hash": request.hash, "ttl": ttl}, _free(now))


def natural_key_write(key: Key, job: Job, ended: str | None, now: datetime, timings: Timings) -> Put:
    """Take a natural key that is free, or that a job still holds which has ended. It outlives its job."""
    ttl = job.ttl + round(timings.keep_row.total_seconds())
    return put(key, {"job_id": job.id, "ttl": ttl}, _free(now, *([] if ended is None else [is_("job_id", ended)])))


def known_job(store: Store, key: Key | None, request: Request, now: datetime) -> Job | None:
    """The job that the request became before. Raises KeyUsed if its key belongs to another request."""
    row = None if key is None else live(store.get(key), now)
    if row is None:
        return None
    if row["hash"] != request.hash:
        raise KeyUsed("this Idempotency-Key was used for a different request: take a new key for a new request")
    job = store.get(job_key(str(row["job_id"])))
    return None if job is None else job_of(job)


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The job that holds a natural key: `job` while it is open, else only its id."""

    id: str
    job: Job | None


def holder(store: Store, key: Key, kind: Kind, wanted: Job, now: datetime) -> Holder | None:
    """Who holds a natural key, if anybody. Raises Conflict if an open job with other args does."""
    row = live(store.get(key), now)
    if row is None:
        return None
    job_id = str(row["job_id"])
    held = store.get(job_key(job_id))
    if held is None or (job := job_of(held)).state.final:
        return Holder(id=job_id, job=None)
    if _values(kind, args_of(store, job)) != _values(kind, wanted.args):
        raise Conflict(f"the open job {job_id} has the same natural key and other args: wait for it or cancel it")
    return Holder(id=job_id, job=job)


def _values(kind: Kind, args: str | None) -> object:
    """Args as the kind reads them, so that a default and another spelling of a value count as what they are."""
    if args is None:
        return None
    try:
        return checked_args(kind.args, json.loads(args))
    except InvalidArgs:  # of an older version: then the text must be the same
        return args


def args_of(store: Store, job: Job) -> str | None:
    """The JSON of a job's args, from its row or from beside it."""
    if job.args is not None:
        return job.args
    row = store.get(args_key(job.id))
    return None if row is None else str(row["args"])


def live(row: Row | None, now: datetime) -> Row | None:
    """An expired item that the table has not dropped yet counts as absent."""
    if row is None:
        return None
    ttl = row.get("ttl")
    return None if isinstance(ttl, int) and ttl <= now.timestamp() else row


def _free(now: datetime, *others: Condition) -> AnyOf:
    return any_of(absent("job_id"), at_most("ttl", round(now.timestamp())), *others)
