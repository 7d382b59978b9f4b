"""One suite for the fakes and for the adapters of AWS: whatever holds for the one holds for the other.

moto stands in for AWS and is laxer in places, where the fakes are as strict as AWS (`coatcheck.limits`, tested in
`test_limits.py`): numbers of more than 38 digits, partition keys over 2,048 bytes, a boolean that equals a number,
`IN` with more than 100 values, object keys over 1,024 bytes, an upload that is used under another object's key or
after its completion, and two threads' writes at the same time (`OneAtATime` in `cloud.py` keeps those apart).
"""

from collections.abc import Iterator
from itertools import count

import pytest

from coatcheck.aws import clients
from coatcheck.aws.dynamo_store import DynamoStore
from coatcheck.aws.s3_objects import S3Objects
from coatcheck.memory import MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import Objects
from coatcheck.store import Store
from coatcheck.write import Table
from tests.coatcheck.cloud import BUCKET, Cloud, cloud, isolated
from tests.simulation.table import SimTable

PAGE_SIZE = 4
_numbers = count(1)


@pytest.fixture(scope="module")
def aws() -> Iterator[Cloud]:
    with cloud() as made:
        yield made


@pytest.fixture(params=["memory", "simulated", "aws"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "memory":
        return MemoryStore(page_size=PAGE_SIZE)
    if request.param == "simulated":
        return SimTable(page_size=PAGE_SIZE)
    request.getfixturevalue("aws")
    return DynamoStore(isolated(clients.dynamodb()), {table: table.value for table in Table}, page_size=PAGE_SIZE)


@pytest.fixture(params=["memory", "aws"])
def objects(request: pytest.FixtureRequest) -> Objects:
    if request.param == "memory":
        return MemoryObjects()
    request.getfixturevalue("aws")
    return S3Objects(clients.s3(), BUCKET)


@pytest.fixture
def fresh() -> str:
    """A name that no other test uses, since tables and buckets outlive a test."""
    return f"fresh-{next(_numbers)}"
