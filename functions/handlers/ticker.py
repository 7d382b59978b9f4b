"""A tick of a schedule: its job is submitted, once."""

import os
from datetime import UTC, datetime
from typing import Any

import msgspec
from aws_lambda_powertools import Logger

from coatcheck.problem import Problem
from coatcheck.request import Terms
from coatcheck.run import settings
from coatcheck.tick import Taken, Tick, note_refusal, take
from handlers import ports

logger = Logger()


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Takes a tick: `{"job_id"?, "skipped_for"?, "before"}`.

    Raises Problem or Unavailable: Lambda invokes it again, and then puts the event among the lost ticks.
    """
    tick = msgspec.convert(event, Tick)
    at = tick.scheduled_time.isoformat()
    try:
        taken = _taken(tick)
    except Problem as problem:
        logger.exception("a tick is refused", schedule=tick.schedule, at=at, tenant=tick.tenant, reason=problem.detail)
        raise
    told = {name: value for name, value in msgspec.to_builtins(taken).items() if value is not None}
    logger.info("a tick is taken", schedule=tick.schedule, at=at, tenant=tick.tenant, became=told)
    return told


def _taken(tick: Tick) -> Taken:
    store, terms, now = ports.jobs_and_keys(), new_terms(), datetime.now(UTC)
    try:
        return take(store, terms, tick, now)
    except Problem as problem:
        note_refusal(store, tick, problem, now, terms.timings)
        raise


def new_terms() -> Terms:
    return Terms(timings=settings.timings(), lanes=settings.lanes(), random=os.urandom)
