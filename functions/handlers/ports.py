"""The adapters that handlers share, each made at its first use."""

from datetime import UTC, datetime
from functools import cache

from coatcheck.aws.clients import dynamodb, s3, secrets
from coatcheck.aws.dynamo_store import DynamoStore
from coatcheck.aws.link_key import link_key
from coatcheck.aws.s3_objects import S3Objects
from coatcheck.result_link import signed
from coatcheck.run import settings
from coatcheck.run.known_load import KnownLoad
from coatcheck.run.pace import Pace
from coatcheck.run.settings import setting
from coatcheck.write import Table


@cache
def jobs() -> DynamoStore:
    return DynamoStore(dynamodb(), {Table.JOBS: setting(settings.JOBS_TABLE)})


@cache
def jobs_and_keys() -> DynamoStore:
    tables = {Table.JOBS: setting(settings.JOBS_TABLE), Table.IDEMPOTENCY: setting(settings.IDEMPOTENCY_TABLE)}
    return DynamoStore(dynamodb(), tables)


@cache
def tenants() -> DynamoStore:
    return DynamoStore(dynamodb(), {Table.TENANTS: setting(settings.TENANTS_TABLE)})


@cache
def known_load() -> KnownLoad:
    return KnownLoad(jobs())


@cache
def known_pace() -> Pace:
    return Pace(known_load(), settings.timings().polls_per_second)


def pace() -> int:
    """Seconds that a client should wait before it asks again."""
    return known_pace().seconds(datetime.now(UTC))


@cache
def objects() -> S3Objects:
    return S3Objects(s3(), setting(settings.RESULTS_BUCKET))


@cache
def key_of_links() -> bytes:
    """Read at the first document that has a result, and once."""
    return link_key(secrets(), setting(settings.LINK_SECRET_ARN))


def sign(job_id: str, until: datetime) -> str:
    """The token of a result's address."""
    return signed(job_id, until, key_of_links())
