"""The jobs table's stream, once more: write down every transition, and tell of every end."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.aws.attributes import row
from coatcheck.aws.call_count import taken
from coatcheck.duty import tell
from coatcheck.entry import moved, write_down
from coatcheck.job import job_of
from coatcheck.store import Unavailable
from handlers import bells, ports

logger = Logger()

LATER = timedelta(seconds=5)


def handler(event: Mapping[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    """Answers per record. An entry that cannot be written now is handed to the wake queue and blocks nobody."""
    failed = [record["dynamodb"]["SequenceNumber"] for record in event["Records"] if not _recorded(record)]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


def _recorded(record: Mapping[str, Any]) -> bool:
    """Whether the record has done its work; if not, it comes again some times and is then kept where an alarm sees it.

    Unlike a ring, which needs the job's id alone, nobody could make up for what the record says of the past.
    """
    job_id = record["dynamodb"]["Keys"]["id"]["S"]
    try:
        _record(record["dynamodb"])
    except Exception:  # one record of a batch: the others must not come back for it
        logger.exception("a record could be neither written down nor handed on", job_id=job_id)
        return False
    logger.info("recorded", job_id=job_id, step="Record", calls=taken())
    return True


def _record(change: Mapping[str, Any]) -> None:
    job = job_of(row(change["NewImage"]))
    old = job_of(row(change["OldImage"])) if "OldImage" in change else None
    entry = None if job.state.final else moved(old, job)
    try:
        if entry is None:
            tell(ports.jobs(), job)
        else:
            write_down(ports.jobs(), job.id, entry)
    except Unavailable as error:
        logger.warning("a record is handed on", job_id=job.id, code=error.code)
        bells.wake_queue().wake(job.id, LATER, entry)
