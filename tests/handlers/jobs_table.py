"""The jobs table as the handlers' tests fill it and look into it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from coatcheck.job import Job, job_key, job_of, row_of
from coatcheck.job_id import RANDOM_BYTES, new_job_id
from coatcheck.write import Key, Put
from handlers import ports
from tests.coatcheck.rows import a_job

_numbers = count(1)


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return new_job_id(now(), next(_numbers).to_bytes(RANDOM_BYTES, "big"))


def add_job(**changes: Any) -> Job:
    """A job in the table; its times are those of the wall."""
    at, job_id = now(), new_id()
    times = {"created_at": at, "updated_at": at, "due": at + timedelta(minutes=1)}
    job = replace(a_job(id=job_id, root=job_id, **times), **changes)
    ports.jobs().write(Put(key=job.key, row=row_of(job)))
    return job


def row(job_id: str) -> dict[str, Any]:
    found = ports.jobs().get(job_key(job_id))
    assert found is not None
    return found


def job_in_table(job_id: str) -> Job:
    return job_of(row(job_id))


def spoil(job_id: str) -> None:
    """Make a row that this version cannot read."""
    key: Key = job_key(job_id)
    ports.jobs().write(Put(key=key, row=row(job_id) | {"state": "of a later version"}))
