"""A lane's queue: run the attempt that a doorbell names."""

import logging
import os
import random
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec
from aws_lambda_powertools import Logger, Tracer

from coatcheck.aws import clients
from coatcheck.aws.call_count import taken
from coatcheck.aws.database_secret import database_url
from coatcheck.aws.sqs_queues import REDRIVE, SqsMessage
from coatcheck.context import Source
from coatcheck.doorbell import DeadLetter, Doorbell
from coatcheck.job import job_key, job_of
from coatcheck.problem import Busy, Problem
from coatcheck.redrive import redrive
from coatcheck.run import settings
from coatcheck.run.clock import WallClock
from coatcheck.run.watchdog import FaultHandlerWatchdog
from coatcheck.run.worker import Delivery, Desk, work
from coatcheck.store import Unavailable
from handlers import bells, ports

logger = Logger()
tracer = Tracer()


RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JobLog:
    """The handler's log for kinds and workers; job id, attempt and tenant are already in it."""

    def info(self, message: str, /, **fields: object) -> None:
        logger.info(message, extra=_own(fields))

    def warning(self, message: str, /, **fields: object) -> None:
        logger.warning(message, extra=_own(fields))


def _own(fields: dict[str, object]) -> dict[str, object]:
    """Fields under names that Python's logging does not keep for itself: it refuses those."""
    return {f"{name}_" if name in RESERVED else name: value for name, value in fields.items()}


DEAD_LETTER = "dead letter"
"""Who asked for a job that a dead letter, moved by hand, made."""


class NoSource(Exception):
    """A kind asked for the source, but the deployment names none."""


@tracer.capture_lambda_handler(capture_response=False)
def handler(event: Mapping[str, Any], context: Any) -> dict[str, object]:
    (record,) = event["Records"]
    if REDRIVE in record["messageAttributes"]:
        return {"batchItemFailures": [] if _redriven(record["body"]) else [{"itemIdentifier": record["messageId"]}]}
    try:
        doorbell = msgspec.json.decode(record["body"].encode(), type=Doorbell)
    except msgspec.DecodeError:
        logger.exception("a message that is no doorbell", message_id=record["messageId"])
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
    logger.append_keys(job_id=doorbell.job_id, attempt=doorbell.attempt, tenant=doorbell.tenant, kind=doorbell.kind)
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    url = settings.setting(settings.LANE_QUEUE)
    delivery = Delivery(
        doorbell=doorbell,
        message=SqsMessage(clients.sqs(), url, record["receiptHandle"]),
        beat_message=SqsMessage(clients.sqs(clients.BRIEF), url, record["receiptHandle"]),
        receives=int(record["attributes"]["ApproximateReceiveCount"]),
        deadline=datetime.now(UTC) + left,
    )
    done = work(_desk(), delivery)
    logger.info("answered", calls=taken())
    return {"batchItemFailures": [] if done else [{"itemIdentifier": record["messageId"]}]}


def _redriven(body: str) -> bool:
    """A dead letter that was put into the lane by hand tries its job again. False if the message must come back."""
    letter = msgspec.json.decode(body.encode(), type=DeadLetter)
    store = ports.jobs_and_keys()
    try:
        row = store.get(job_key(letter.job_id))
        if row is not None:
            redrive(store, job_of(row), DEAD_LETTER, settings.timings(), os.urandom, datetime.now(UTC))
    except Busy:
        return False
    except Problem as problem:  # it would be refused again, and the job's own row is as it was
        logger.warning("a dead letter could not be redriven", job_id=letter.job_id, why=problem.detail)
    except Unavailable as error:
        logger.warning("a dead letter could not be redriven now", job_id=letter.job_id, code=error.code)
        return False
    return True


@cache
def _desk() -> Desk:
    return Desk(
        store=ports.jobs(),
        beat_store=bells.jobs_for_beats(),
        objects=ports.objects(),
        holding=bells.known_pauses().hold,
        lane=settings.setting(settings.LANE),
        source=_source,
        timings=settings.timings(),
        clock=WallClock(),
        watchdog=FaultHandlerWatchdog(),
        token=lambda: secrets.token_hex(8),
        chance=random.random,
        end_process=lambda: os._exit(1),
        log=JobLog(),
    )


def _source() -> Source:
    """Read at each use: a rotated secret counts from the next attempt on."""
    found = settings.source_settings()
    if found.secret_arn is not None:
        url = database_url(clients.secrets(), found.secret_arn)
    elif found.url is not None:
        url = found.url
    else:
        raise NoSource("this deployment names no source: set it in infra/config.py")
    return Source(url=url, rows_per_second=found.rows_per_second)
