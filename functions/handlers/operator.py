"""What operators do to jobs: invoked by the `coatcheck` command, with the rights of whoever runs it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from aws_lambda_powertools import Logger
from msgspec import Struct

from coatcheck.aws.call_count import taken
from coatcheck.entry import Act, note
from coatcheck.job import Job, job_key, job_of
from coatcheck.problem import Problem
from coatcheck.redrive import redrive
from coatcheck.run import settings
from coatcheck.store import write_or_find
from handlers import ports

logger = Logger()


class Redrive(Struct, frozen=True, kw_only=True, tag_field="act", tag="redrive"):
    """Try jobs again that failed. `by` is who asked."""

    job_ids: list[str]
    by: str


class Purged(Struct, frozen=True, kw_only=True, tag_field="act", tag="purged"):
    """The dead letters of these jobs were thrown away."""

    job_ids: list[str]
    by: str


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Does one act; answers what became of each job: `{"jobs": [{"id", "retried_as", "from"} | {"id", "refused"}]}`."""
    act = msgspec.convert(event, Redrive | Purged)
    do = _redriven if isinstance(act, Redrive) else _noted
    jobs = [{"id": job_id, **_done(do, job_id, act.by)} for job_id in act.job_ids]
    logger.info("operated", act=type(act).__name__, by=act.by, jobs=len(jobs), calls=taken())
    return {"jobs": jobs}


def _done(do: Callable[[Job, str], dict[str, str]], job_id: str, by: str) -> dict[str, str]:
    """Raises Unavailable: then the operator asks again, which does no harm."""
    row = ports.jobs().get(job_key(job_id))
    if row is None:
        return {"refused": "there is no such job"}
    try:
        return do(job_of(row), by)
    except Problem as problem:
        return {"refused": problem.detail}


def _redriven(old: Job, by: str) -> dict[str, str]:
    job = redrive(ports.jobs_and_keys(), old, by, settings.timings(), os.urandom, datetime.now(UTC))
    return {"retried_as": job.id, "from": str(job.progress.done) if job.cursor or job.cursor_key else "0"}


def _noted(job: Job, by: str) -> dict[str, str]:
    write_or_find(ports.jobs(), note(job, Act.PURGED, by, datetime.now(UTC)), mine=lambda _: True)
    return {}
