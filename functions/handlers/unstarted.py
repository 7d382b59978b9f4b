"""The unstarted queue: settle the jobs whose doorbells no worker could claim."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from aws_lambda_powertools import Logger

from coatcheck.doorbell import Doorbell
from coatcheck.run import settings
from coatcheck.store import Unavailable
from coatcheck.unstarted import settle_unstarted
from handlers import ports

logger = Logger()


def handler(event: Mapping[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    failed = [record["messageId"] for record in event["Records"] if not _settled(record)]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def _settled(record: Mapping[str, Any]) -> bool:
    try:
        return _settle(record)
    except Exception:  # one record of a batch: the others must not come back for it
        logger.exception("an unstarted message failed", message_id=record["messageId"])
        return False


def _settle(record: Mapping[str, Any]) -> bool:
    doorbell = msgspec.json.decode(record["body"].encode(), type=Doorbell)
    try:
        job = settle_unstarted(ports.jobs(), doorbell, datetime.now(UTC), settings.timings())
    except Unavailable as error:
        logger.warning("a job could not be settled", job_id=doorbell.job_id, code=error.code)
        return False
    logger.info("never started" if job else "a stale doorbell", job_id=doorbell.job_id, tenant=doorbell.tenant)
    return True
