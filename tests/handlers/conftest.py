"""The functions of a stage, driven as Lambda drives them, over moto."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import jobs
from coatcheck.run import settings
from handlers import bells
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


@pytest.fixture
def capped(aws: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # the stage comes first
    """Three jobs of a tenant may be in flight in the interactive lane."""
    cached = (settings.caps, bells.known_limits, bells.bell)
    monkeypatch.setenv(settings.CAPS, '{"lanes": {"interactive": 3}}')
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()
