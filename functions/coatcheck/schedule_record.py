"""The record of a schedule: its newest tick, its last job, what was skipped and refused; one item for each name."""

from dataclasses import dataclass, fields, replace
from datetime import datetime

from coatcheck.idempotency import live
from coatcheck.problem import Problem
from coatcheck.row import Row, moment
from coatcheck.store import Store
from coatcheck.text import cut
from coatcheck.timings import Timings
from coatcheck.write import Key, Put, Table, as_seen, put

MOST_REASON_BYTES = 512


@dataclass(frozen=True, kw_only=True)
class Record:
    """`holder` is the job that was made last, by whichever tick or hand; the rest is about the newest ticks."""

    version: int = 0
    holder: str | None = None
    last_tick: datetime | None = None
    last_job: str | None = None
    """The job of `last_tick`."""

    skipped: int = 0
    last_skip: datetime | None = None
    skipped_for: str | None = None
    """The job that was open at `last_skip`."""

    refused: datetime | None = None
    """The newest tick that became nothing, unless a newer one became a job."""

    reason: str | None = None


TIMES = ("last_tick", "last_skip", "refused")


def record_key(schedule: str) -> Key:
    return Key(table=Table.IDEMPOTENCY, id=f"schedule#{schedule}")


def record_of(store: Store, schedule: str, now: datetime) -> Record:
    """Empty for a schedule that never ticked, or not for long. Raises Unavailable."""
    row = store.get(record_key(schedule))
    if row is None:
        return Record()
    if live(row, now) is None:
        return Record(version=int(str(row["version"])))
    return Record(**{each.name: _value(row, each.name) for each in fields(Record) if each.name in row})  # type: ignore[arg-type]  # as it was written


def record_write(schedule: str, record: Record, now: datetime, timings: Timings) -> Put:
    """Of two that saw the same record one writes it; the other looks again."""
    values = {each.name: getattr(record, each.name) for each in fields(Record)}
    kept = {"version": record.version + 1, "ttl": round((now + timings.keep_schedule).timestamp())}
    return put(record_key(schedule), values | kept, as_seen("version", record.version or None))


def advanced(record: Record, tick: datetime | None, job_id: str) -> Record:
    """A job was made or joined; by hand if there is no tick. One of an older tick than the newest is no news."""
    made = replace(record, holder=job_id)
    if tick is None or not _newer(tick, record.last_tick):
        return made
    settled = {} if _newer(record.refused, tick) else {"refused": None, "reason": None}
    return replace(made, last_tick=tick, last_job=job_id, **settled)  # type: ignore[arg-type]  # None for both


def skipped_at(record: Record, tick: datetime, open_job: str) -> Record:
    counted = replace(record, skipped=record.skipped + 1)
    return replace(counted, last_skip=tick, skipped_for=open_job) if _newer(tick, record.last_skip) else counted


def refused_at(record: Record, tick: datetime, problem: Problem) -> Record:
    faults = "".join(f"; {fault.pointer}: {fault.detail}" for fault in problem.faults)
    if not _newer(tick, record.last_tick) or (record.refused is not None and tick < record.refused):
        return record
    return replace(record, refused=tick, reason=cut(problem.detail + faults, MOST_REASON_BYTES))


def _newer(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one > other)


def _value(row: Row, name: str) -> object:
    value = row[name]
    return moment(value) if name in TIMES and isinstance(value, int) else value
