"""Jobs and rows as tests begin with them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from coatcheck.doorbell import DeadLetter, Doorbell, Queues
from coatcheck.job import Job, State, job_key, job_of, row_of
from coatcheck.limiter import Caps
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.ring import Bell
from coatcheck.run.known_limits import KnownLimits
from coatcheck.run.known_pauses import KnownPauses
from coatcheck.store import Store
from coatcheck.timings import Timings

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
TIMINGS = Timings()
JOB_ID = "j_01kdq0000000000000000000ab"


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def a_job(**changes: Any) -> Job:
    """A job as submit leaves it, but for `changes`."""
    job = Job(
        id=JOB_ID,
        tenant="acme",
        kind="probe",
        lane="interactive",
        state=State.QUEUED,
        max_failures=5,
        timeout=timedelta(hours=1),
        created_at=NOW,
        updated_at=NOW,
        requested_by="key …abcd",
        request_hash="0" * 64,
        args="{}",
        root=JOB_ID,
        ready_at=NOW,
        due=NOW + TIMINGS.due_grace,
        ttl=round((NOW + TIMINGS.give_up_after + TIMINGS.keep_row).timestamp()),
    )
    return replace(job, **changes)


def an_owned_job(**changes: Any) -> Job:
    """A job whose first attempt was claimed a minute ago by `owner-1`, with a minute of its lease left."""
    owned: dict[str, Any] = {
        "state": State.RUNNING,
        "owner": "owner-1",
        "sent": 1,
        "rings": 1,
        "claimed_at": NOW - seconds(60),
        "started_at": NOW - seconds(60),
        "as_of": NOW - seconds(90),
        "lease_until": NOW + seconds(60),
        "due": NOW + seconds(65),
    }
    return a_job(**(owned | changes))


def doorbell(job: Job, **changes: Any) -> Doorbell:
    return replace(Doorbell(job_id=job.id, tenant=job.tenant, kind=job.kind, attempt=job.attempt), **changes)


def dead_letter(job: Job) -> DeadLetter:
    return DeadLetter(
        job_id=job.id,
        tenant=job.tenant,
        kind=job.kind,
        attempt=job.attempt,
        failures=job.failures,
        error_type="attempts_exhausted",
        error_message="failed 5 times",
        failed_at="2026-11-10T12:00:00.000Z",
    )


def a_bell(
    store: Store, queues: Queues | None = None, objects: MemoryObjects | None = None, caps: Caps | None = None
) -> Bell:
    return Bell(
        store=store,
        queues=queues or MemoryQueues(),
        objects=objects or MemoryObjects(),
        timings=TIMINGS,
        holding=KnownPauses(store).hold,
        limiting=KnownLimits(store, caps or Caps()).limiters,
    )


def stored(*jobs: Job) -> MemoryStore:
    return MemoryStore(rows={job.key: row_of(job) for job in jobs})


def job_in(store: MemoryStore, job_id: str = JOB_ID) -> Job:
    return job_of(store.rows[job_key(job_id)])
