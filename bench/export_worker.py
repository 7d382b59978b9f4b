"""An export in a process of its own, into the S3 that AWS_ENDPOINT_URL names; prints what it took as JSON."""

import json
import resource
import sys
import time
from datetime import UTC, datetime
from typing import cast

import aws_lambda_powertools  # noqa: F401  # a part of every function's memory

from coatcheck import Result, Source
from coatcheck.aws.clients import s3
from coatcheck.aws.s3_objects import S3Objects
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Succeeded
from coatcheck.testing import perform
from coatcheck_client import marketplace
from jobs.gst_export import gst_export

IDLE_SELLER = next(seller.seller_id for seller in marketplace.SELLERS if seller.invoices == 0)


def main(database_url: str, bucket: str) -> None:
    _export(
        database_url, bucket, IDLE_SELLER
    )  # a worker is warm: it has imported what kinds import, and has connections
    cpu, started = time.process_time(), time.monotonic()
    result = _export(database_url, bucket, marketplace.BIG_SELLER)
    took = {"seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - cpu}
    assert result.file is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({**took, "rows": result.rows, "bytes": result.file.bytes, "peak_rss_bytes": peak}))
    s3().delete_object(Bucket=bucket, Key=result.file.key)


def _export(database_url: str, bucket: str, seller_id: str) -> Result:
    performed = perform(
        gst_export,
        {"seller_id": seller_id, "period": marketplace.PERIOD},
        tenant=marketplace.TENANTS[0],
        as_of=datetime.now(UTC),
        source=Source(url=database_url),
        objects=cast("MemoryObjects", S3Objects(s3(), bucket)),
    )
    assert isinstance(performed.outcome, Succeeded), performed.outcome
    return performed.outcome.result


if __name__ == "__main__":
    main(*sys.argv[1:])
