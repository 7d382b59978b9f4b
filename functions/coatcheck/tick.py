"""Ticks: each becomes one job, or is skipped, once and for all, however often, late or at once it fires."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from coatcheck.caller import Caller
from coatcheck.idempotency import holder, live, natural_key, natural_key_write
from coatcheck.job import Job, job_key, job_of
from coatcheck.problem import Busy, Conflict, Gone, Problem
from coatcheck.request import Request, Terms, requested_job
from coatcheck.row import Row
from coatcheck.schedule_record import Record, advanced, record_of, record_write, refused_at, skipped_at
from coatcheck.store import Store
from coatcheck.submission import job_writes, refusals
from coatcheck.text import rfc3339
from coatcheck.timings import Timings
from coatcheck.write import Key, Put, Table, absent, any_of, at_most, put

MOST_TRIES = 10


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One tick of a schedule, as its event says. It stands for its own time, whenever it comes."""

    schedule: str
    scheduled_time: Annotated[datetime, Meta(tz=True)]
    tenant: str
    request: Mapping[str, object]
    overlap: bool = True

    @property
    def key(self) -> Key:
        """Where it is kept what became of the tick. No key of a client begins like this."""
        at = rfc3339(self.scheduled_time)
        return Key(table=Table.IDEMPOTENCY, id=f"tick#{self.schedule}#{at}")

    @property
    def by(self) -> str:
        return f"schedule {self.schedule}"

    @property
    def labels(self) -> dict[str, str]:
        return {"schedule": self.schedule, "tick": f"{self.scheduled_time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}


@dataclass(frozen=True, kw_only=True)
class ByHand(Tick):
    """A firing by an operator at `scheduled_time`, which is no tick; `nonce` is the same when the call is repeated."""

    nonce: str
    operator: str

    @property
    def key(self) -> Key:
        return Key(table=Table.IDEMPOTENCY, id=f"run#{self.schedule}#{self.nonce}")

    @property
    def by(self) -> str:
        return f"{self.operator}, by hand for the schedule {self.schedule}"

    @property
    def labels(self) -> dict[str, str]:
        return {"schedule": self.schedule}


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What became of a tick: the job, or the open job for which it was skipped. `before`: by an earlier firing."""

    job_id: str | None = None
    skipped_for: str | None = None
    before: bool = False


def take(store: Store, terms: Terms, tick: Tick, now: datetime) -> Taken:
    """Make the tick's job, or skip it; a tick that was taken before stays what it became, whatever was edited since.

    The job, the tick's own item and the schedule's record are one transaction. Raises Problem, Unavailable.
    """
    ended: str | None = None
    for _ in range(MOST_TRIES):
        if (row := live(store.get(tick.key), now)) is not None:
            return _before(row)
        _check_age(tick, now, terms.timings)
        record = record_of(store, tick.schedule, now)
        if not tick.overlap and (last := _open_job(store, record)) is not None:
            if isinstance(tick, ByHand):
                raise Conflict(f"its job {last} is open, and the schedule allows no overlap: wait for it or cancel it")
            if _skipped(store, tick, record, last, now, terms.timings):
                return Taken(skipped_for=last)
            continue
        kind, job = requested_job(_asked(tick), Caller(tenant=tick.tenant, name=tick.by), terms, now)
        unique = natural_key(kind, job)
        naturals = [] if unique is None else [natural_key_write(unique, job, ended, now, terms.timings)]
        made = _becomes(tick, record, job, now, terms.timings)
        refused = refusals(store, [*job_writes(job), *naturals, *made])
        if not refused:
            return Taken(job_id=job.id)
        if unique is not None and unique in refused and (found := holder(store, unique, kind, job, now)) is not None:
            if found.job is None:
                ended = found.id
            elif not refusals(store, _becomes(tick, record, found.job, now, terms.timings)):
                return Taken(job_id=found.job.id)
    raise Busy("the ticks of the schedule come faster than they can be taken: try again")


def note_refusal(store: Store, tick: Tick, problem: Problem, now: datetime, timings: Timings) -> None:
    """Let the schedule's record say why its newest tick became nothing. Raises Unavailable."""
    for _ in range(MOST_TRIES):
        seen = record_of(store, tick.schedule, now)
        noted = refused_at(seen, tick.scheduled_time, problem)
        if noted == seen or not refusals(store, [record_write(tick.schedule, noted, now, timings)]):
            return


def _asked(tick: Tick) -> Request:
    return Request(fields={**tick.request, "labels": tick.labels}, key=None)


def _open_job(store: Store, record: Record) -> str | None:
    """The schedule's last job while it is open, or the one as which it was tried again.

    There is nothing to unlock: whatever ends the job lets the next tick through.
    """
    job_id = record.holder
    while job_id is not None and (row := store.get(job_key(job_id))) is not None:
        job = job_of(row)
        if not job.state.final:
            return job_id
        job_id = job.retried_as
    return None


def _skipped(store: Store, tick: Tick, record: Record, last: str, now: datetime, timings: Timings) -> bool:
    """Whether it could be written."""
    noted = skipped_at(record, tick.scheduled_time, last)
    taken = _taken_write(tick, {"skipped_for": last}, now, timings)
    return not refusals(store, [taken, record_write(tick.schedule, noted, now, timings)])


def _becomes(tick: Tick, record: Record, job: Job, now: datetime, timings: Timings) -> list[Put]:
    at = None if isinstance(tick, ByHand) else tick.scheduled_time
    return [
        _taken_write(tick, {"job_id": job.id}, now, timings),
        record_write(tick.schedule, advanced(record, at, job.id), now, timings),
    ]


def _taken_write(tick: Tick, became: Mapping[str, object], now: datetime, timings: Timings) -> Put:
    """Of all firings of a tick one writes this. It is kept for longer than the tick may come late."""
    until = max(now, tick.scheduled_time) + timings.keep_key + 2 * timings.clocks_apart
    seen = any_of(absent("ttl"), at_most("ttl", round(now.timestamp())))
    return put(tick.key, {**became, "ttl": round(until.timestamp())}, seen)


def _check_age(tick: Tick, now: datetime, timings: Timings) -> None:
    if now >= tick.scheduled_time + timings.keep_key:
        raise Gone(
            f"the tick of {rfc3339(tick.scheduled_time)} comes more than {timings.keep_key.days} days late, when it is "
            f"no longer known whether it was taken before: if it was not, coatcheck schedules run {tick.schedule}"
        )


def _before(row: Row) -> Taken:
    job_id, skipped_for = row.get("job_id"), row.get("skipped_for")
    return Taken(
        job_id=None if job_id is None else str(job_id),
        skipped_for=None if skipped_for is None else str(skipped_for),
        before=True,
    )
