"""Redrive: a job that failed or was cancelled becomes a new one, the same however often that is asked."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from coatcheck.entry import Act, note
from coatcheck.idempotency import args_of, holder, natural_key, natural_key_write
from coatcheck.job import REDRIVABLE, Job, State, Wrote, job_key, job_of
from coatcheck.job_id import RANDOM_BYTES, new_job_id
from coatcheck.kind import Kind
from coatcheck.problem import Busy, Conflict, Gone
from coatcheck.registry import BrokenKind, UnknownKind, find
from coatcheck.store import Store
from coatcheck.submission import MOST_TRIES, job_writes, refusals
from coatcheck.timings import Timings
from coatcheck.write import Key, Update, absent, one_of, update


def redrive(
    store: Store,
    old: Job,
    asked_by: str,
    timings: Timings,
    random: Callable[[int], bytes],
    now: datetime,
    admit: Callable[[Job, datetime], None] = lambda _, __: None,
) -> Job:
    """The job that goes on for an old one, made now or before. It bears the old one's args, and its checkpoint.

    One transaction makes it, links both ways, and takes the natural key over; `admit` may refuse one that is not made
    yet. Raises Conflict, Gone, TooMany, Busy, Unavailable.
    """
    admitted = False
    ended = old.id  # which holds the natural key, if nobody took it over
    for _ in range(MOST_TRIES):
        if old.retried_as is not None:
            return _known(store, old.retried_as)
        if old.state not in REDRIVABLE:
            raise Conflict(
                f"only a job that failed or was cancelled can be tried again; the state of this one is {old.state}"
            )
        job = successor(old, _args(store, old), asked_by, timings, new_job_id(now, random(RANDOM_BYTES)), now)
        kind = _kind(job)
        unique = natural_key(kind, job)
        if not admitted:
            admit(job, now)
            admitted = True
        naturals = [] if unique is None else [natural_key_write(unique, job, ended, now, timings)]
        noted = note(old, Act.REDRIVEN, asked_by, now, job.id)
        refused = refusals(store, [*job_writes(job), retried_write(old, job), noted, *naturals])
        if not refused:
            return job
        old = job_of(store.get(old.key) or {})
        if unique is not None and unique in refused and old.retried_as is None:
            ended = _ended_holder(store, unique, kind, job, now) or ended
    raise Busy("the job is changing hands: try again", headers={"Retry-After": "1"})


def successor(old: Job, args: str, asked_by: str, timings: Timings, job_id: str, now: datetime) -> Job:
    """The new job. It goes on from the old one's checkpoint if what that stands on is still there, else from zero.

    The output of a failed job is kept as long as a result would be; that of a cancelled one is removed at once, and
    the new job, which writes under the same prefix, begins when no clock can take its output for the old one's.
    """
    ended_at = old.finished_at or old.updated_at
    removed_by = ended_at + 3 * timings.clocks_apart
    run_at = removed_by if old.state is State.CANCELLED and old.started_at and removed_by > now else None
    job = Job(
        id=job_id,
        tenant=old.tenant,
        kind=old.kind,
        lane=old.lane,
        state=State.QUEUED,
        max_failures=old.max_failures,
        timeout=old.timeout,
        created_at=now,
        updated_at=now,
        requested_by=asked_by,
        request_hash=old.request_hash,
        args=args,
        labels=old.labels,
        root=old.root,
        retry_of=old.id,
        cap_value=old.cap_value,
        run_at=run_at,
        ready_at=run_at or now,
        due=min(run_at or now + timings.due_grace, now + timings.due_grace),
        ttl=round((now + timings.give_up_after + timings.keep_row).timestamp()),
    )
    kept_until = ended_at + timings.keep_result
    if old.state is not State.FAILED or now >= kept_until:
        return job
    return replace(job, cursor=old.cursor, cursor_key=old.cursor_key, as_of=old.as_of, progress=old.progress)


def retried_write(old: Job, job: Job) -> Update:
    """The old job names the new one, and only one."""
    return update(
        old.key,
        (one_of("state", *REDRIVABLE), absent("retried_as")),
        {"retried_as": job.id, "wrote": Wrote.MARK},
    )


def _known(store: Store, job_id: str) -> Job:
    row = store.get(job_key(job_id))
    if row is None:
        raise Gone(f"it was tried again as {job_id}, whose time is over, too: submit a new job")
    return job_of(row)


def _args(store: Store, old: Job) -> str:
    args = args_of(store, old)
    if args is None:
        raise Gone("the args of the job are gone: submit a new one")
    return args


def _kind(job: Job) -> Kind:
    try:
        return find(job.kind)
    except (UnknownKind, BrokenKind) as error:
        raise Conflict(f"this version cannot run the kind {job.kind}") from error


def _ended_holder(store: Store, unique: Key, kind: Kind, job: Job, now: datetime) -> str | None:
    """The job that holds the natural key although it has ended. Raises Conflict if an open one does."""
    found = holder(store, unique, kind, job, now)
    if found is not None and found.job is not None:
        raise Conflict(f"the open job {found.id} does the same work: wait for it or cancel it")
    return None if found is None else found.id
