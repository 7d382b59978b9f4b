"""The functions of a stage, driven as Lambda drives them, over moto."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import jobs
from tests.coatcheck.cloud import Cloud, cloud

KINDS = Path(__file__).parents[1] / "coatcheck" / "kinds"


@pytest.fixture(scope="module")
def aws() -> Iterator[Cloud]:
    with cloud() as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "__path__", [*jobs.__path__, str(KINDS)])
        yield made


@pytest.fixture
def empty_queues(aws: Cloud) -> None:
    """Nothing of an earlier test is left to be received."""
    for queue in aws.queues:
        aws.received(queue)
