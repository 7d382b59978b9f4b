"""The adapters of AWS alone: what is not in the suite that they share with the fakes."""

from collections.abc import Iterator

import pytest

from tests.coatcheck.cloud import Cloud, cloud


@pytest.fixture(scope="module")
def aws() -> Iterator[Cloud]:
    with cloud() as made:
        yield made
