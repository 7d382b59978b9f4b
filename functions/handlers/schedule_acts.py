"""What operators do about schedules, and need the functions for: check one, run one by hand, look at their records."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from coatcheck.caller import Caller
from coatcheck.job import job_key, job_of
from coatcheck.problem import Problem
from coatcheck.request import Request, requested_job
from coatcheck.schedule_record import Record, record_of
from coatcheck.text import rfc3339
from coatcheck.tick import ByHand, take
from handlers import ports
from handlers.ticker import new_terms


class CheckSchedule(Struct, frozen=True, kw_only=True, tag_field="act", tag="check_schedule"):
    """Say whether a job could be submitted now as the schedule's ticks will do it."""

    tenant: str
    request: dict[str, object]
    by: str


class RunSchedule(Struct, frozen=True, kw_only=True, tag_field="act", tag="run_schedule"):
    """Submit a schedule's job now. `nonce` is the same when the call is repeated."""

    schedule: str
    tenant: str
    request: dict[str, object]
    overlap: bool
    nonce: str
    by: str


class LookAtSchedules(Struct, frozen=True, kw_only=True, tag_field="act", tag="look_at_schedules"):
    """Say what became of the ticks of these schedules."""

    schedules: list[str]
    by: str


def done(act: CheckSchedule | RunSchedule | LookAtSchedules) -> dict[str, object]:
    """Answers `{}`, `{"job_id"}` or `{"schedules": {name: …}}`; or `{"refused", "errors"}`. Raises Unavailable."""
    now = datetime.now(UTC)
    try:
        match act:
            case CheckSchedule():
                caller = Caller(tenant=act.tenant, name=act.by)
                requested_job(Request(fields=act.request, key=None), caller, new_terms(), now)
                return {}
            case RunSchedule():
                return {"job_id": take(ports.jobs_and_keys(), new_terms(), _by_hand(act, now), now).job_id}
            case LookAtSchedules():
                store = ports.jobs_and_keys()
                return {"schedules": {name: _shown(record_of(store, name, now)) for name in act.schedules}}
    except Problem as problem:
        return {"refused": problem.detail, "errors": msgspec.to_builtins(problem.faults)}


def _by_hand(act: RunSchedule, now: datetime) -> ByHand:
    return ByHand(
        schedule=act.schedule,
        scheduled_time=now,
        tenant=act.tenant,
        request=act.request,
        overlap=act.overlap,
        nonce=act.nonce,
        operator=act.by,
    )


def _shown(record: Record) -> Mapping[str, object]:
    told = {
        "last_tick": _time(record.last_tick),
        "last_job": _job(record.last_job),
        "skipped": record.skipped,
        "last_skip": _time(record.last_skip),
        "skipped_for": record.skipped_for,
        "refused": _time(record.refused),
        "reason": record.reason,
    }
    return {name: value for name, value in told.items() if value is not None}


def _job(job_id: str | None) -> Mapping[str, object] | None:
    """A job and its state, which is gone 30 days after its end."""
    if job_id is None:
        return None
    row = ports.jobs().get(job_key(job_id))
    return {"id": job_id} if row is None else {"id": job_id, "state": job_of(row).state}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
