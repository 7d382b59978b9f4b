"""Submits: a request becomes a job once, however often it comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from coatcheck.caller import Caller
from coatcheck.idempotency import caller_key, caller_key_write, holder, known_job, natural_key, natural_key_write
from coatcheck.job import Job, args_key, job_of, row_of
from coatcheck.problem import Busy, Problem
from coatcheck.request import Request, Terms, requested_job
from coatcheck.row import Row
from coatcheck.store import Store, TransactionRefused
from coatcheck.write import Key, Put, Write, absent, put

INLINE_ARGS_BYTES = 512
MOST_TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """`replayed`: the request's own key had become this job before."""

    job: Job
    replayed: bool


def submit(store: Store, terms: Terms, caller: Caller, request: Request, now: datetime) -> Accepted:
    """Accept a job, or find the one that this request became before. Raises Problem, Unavailable.

    A refusal may depend on the version, the time or the load, so it looks first whether the request was accepted
    before: then it is never refused.
    """
    key = caller_key(caller.tenant, request)
    try:
        kind, job = requested_job(request, caller, terms, now)
        terms.admit(job, now)
    except Problem:
        if (known := known_job(store, key, request, now)) is not None:
            return Accepted(job=known, replayed=True)
        raise
    unique = natural_key(kind, job)
    ended: str | None = None
    for _ in range(MOST_TRIES):
        keys = [caller_key_write(key, job, request, now, terms.timings)] if key else []
        naturals = [natural_key_write(unique, job, ended, now, terms.timings)] if unique else []
        refused = refusals(store, [*job_writes(job), *keys, *naturals])
        if not refused or _own_echo(refused.get(job.key), job):
            return Accepted(job=job, replayed=False)
        if key is not None and key in refused:
            if (known := known_job(store, key, request, now)) is not None:
                return Accepted(job=known, replayed=True)
        elif unique is not None and (found := holder(store, unique, kind, job, now)) is not None:
            if found.job is None:
                ended = found.id
            elif _joined(store, key, found.job, request, terms, now):
                return Accepted(job=found.job, replayed=False)
    raise Busy("the request's keys are changing hands: send it again", headers={"Retry-After": "1"})


def _joined(store: Store, key: Key | None, job: Job, request: Request, terms: Terms, now: datetime) -> bool:
    """Let an open job with the same args answer this request, too, and point the caller's key to it."""
    return key is None or not refusals(store, [caller_key_write(key, job, request, now, terms.timings)])


def refusals(store: Store, writes: Sequence[Write]) -> dict[Key, Row | None]:
    """Write all or nothing; by their keys, the rows that stood in the way. Raises Unavailable."""
    try:
        store.transact(writes)
    except TransactionRefused as refusal:
        return {writes[position].key: old for position, old in refusal.refused.items()}
    return {}


def _own_echo(old: Row | None, job: Job) -> bool:
    """The job stands already: the first call took effect and its answer was lost."""
    return old is not None and job_of(old).request_hash == job.request_hash


def job_writes(job: Job) -> list[Write]:
    """The job's row, and beside it its args when they are large: every update bills the whole row."""
    row = row_of(job)
    if job.args is None or len(job.args.encode()) <= INLINE_ARGS_BYTES:
        return [Put(key=job.key, row=row, when=(absent("state"),))]
    del row["args"]
    return [
        Put(key=job.key, row=row, when=(absent("state"),)),
        put(args_key(job.id), {"args": job.args, "ttl": job.ttl}, absent("args")),
    ]
