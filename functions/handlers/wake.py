"""The wake queue: ring the one rule for jobs whose wait is over, and write down what could not be at once."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from aws_lambda_powertools import Logger

from coatcheck.aws.call_count import taken
from coatcheck.aws.clients import sqs
from coatcheck.aws.sqs_queues import SqsMessage
from coatcheck.doorbell import Wake
from coatcheck.entry import write_down
from coatcheck.next_step import Waiting
from coatcheck.ring import ring
from coatcheck.run import settings
from coatcheck.store import Unavailable
from handlers import bells, ports

logger = Logger()


def handler(event: Mapping[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Answers per record: a message that must come back is reported."""
    failed = [record["messageId"] for record in event["Records"] if not _rung(record)]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def _rung(record: Mapping[str, Any]) -> bool:
    try:
        return _ring(record)
    except Exception:  # one record of a batch: the others must not come back for it
        logger.exception("a wake message failed", message_id=record["messageId"])
        return False


def _ring(record: Mapping[str, Any]) -> bool:
    """Whether the message has done its work. An early one hides itself again until the wait is over."""
    wake = msgspec.json.decode(record["body"].encode(), type=Wake)
    now = datetime.now(UTC)
    try:
        if wake.entry is not None:
            write_down(ports.jobs(), wake.job_id, wake.entry)
            return True
        step = ring(bells.bell(), wake.job_id, now)
        if isinstance(step, Waiting):
            url = settings.setting(settings.WAKE_QUEUE)
            SqsMessage(sqs(), url, record["receiptHandle"]).hide(min(step.until - now, settings.timings().wake_limit))
    except Unavailable as error:
        logger.warning("a job could not be rung", job_id=wake.job_id, code=error.code)
        return False
    logger.info("rung", job_id=wake.job_id, step=type(step).__name__, calls=taken())
    return not isinstance(step, Waiting)
