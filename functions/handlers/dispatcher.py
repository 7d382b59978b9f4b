"""The jobs table's stream: ring the one rule for every job that made a transition."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.aws.call_count import taken
from coatcheck.ring import ring
from coatcheck.store import Unavailable
from handlers import bells

logger = Logger()

LATER = timedelta(seconds=5)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Answers per record. A job that cannot be rung now is handed to the wake queue and blocks nobody."""
    failures = []
    for record in event["Records"]:
        job_id = record["dynamodb"]["Keys"]["id"]["S"]
        try:
            _ring(job_id)
        except Unavailable as error:
            logger.warning("a job could be neither rung nor handed on", job_id=job_id, code=error.code)
            failures.append({"itemIdentifier": record["dynamodb"]["SequenceNumber"]})
    return {"batchItemFailures": failures}


def _ring(job_id: str) -> None:
    try:
        step = ring(bells.bell(), job_id, datetime.now(UTC))
    except Exception as error:  # one record of a batch: it must not block its shard
        logger.exception("a ring failed", job_id=job_id, error=type(error).__name__)
        bells.bell().queues.wake(job_id, LATER)
    else:
        logger.info("rung", job_id=job_id, step=type(step).__name__, calls=taken())
