"""The emulator that all other end-to-end tests trust, alone: is it like AWS where they rely on it?"""

from collections.abc import Callable, Iterator

import boto3
import pytest

from coatcheck_client.local.emulator import (
    REGION,
    ROOT_ACCESS_KEY_ID,
    ROOT_SECRET_ACCESS_KEY,
    aws_url,
    start_emulator,
)
from coatcheck_client.local.guard import Guard
from coatcheck_client.project import find_project
from tests.e2e.canaries import CANARIES, Client, unfit


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Clients of an emulator in which nothing is deployed."""
    project = find_project(tmp_path_factory.mktemp("emulator"))
    project.logs.mkdir(parents=True)
    session = boto3.Session(ROOT_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY, region_name=REGION)
    with Guard() as guard:
        url = aws_url(start_emulator(project, port=None, guard=guard).port)
        yield lambda service: session.client(service, endpoint_url=url)  # type: ignore[call-overload]  # any service


@pytest.mark.parametrize("canary", CANARIES, ids=lambda each: each.__name__)
def test_the_emulator_is_like_aws_in_what_the_suite_relies_on(client: Client, canary: Callable[[Client], None]) -> None:
    canary(client)


def test_an_emulator_that_is_not_like_aws_is_found_unfit(client: Client) -> None:
    def pigs_fly(_: Client) -> None:
        raise AssertionError("they do not")

    assert unfit(client, (*CANARIES[:1], pigs_fly)) == "pigs_fly: AssertionError('they do not')"
    assert unfit(client, CANARIES[:2]) is None
