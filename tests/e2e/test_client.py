"""The Python client on the live stack: from a submit to a file that is whole, though the transfer broke off."""

from pathlib import Path

import pytest

from coatcheck_client import Coatcheck, Refused, State, StillOpen, Unreachable
from coatcheck_client.marketplace import PERIOD
from coatcheck_client.proof import file_totals
from tests.e2e.client import Client

ARGS = {"seller_id": "7001", "period": PERIOD}
ROWS = 100_000


@pytest.fixture(scope="module")
def library(stranger: Client) -> Coatcheck:
    """The tenant that owns seller 7001."""
    return stranger.library


class BreaksOnce:
    """Breaks a connection as soon as something has come over it."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int | None]] = []

    def __call__(self, received: int, total: int | None) -> None:
        self.told.append((received, total))
        if len(self.told) == 1:
            raise Unreachable("somebody pulled the plug")


def test_an_export_arrives_whole_over_a_connection_that_breaks(library: Coatcheck, tmp_path: Path) -> None:
    job = library.submit("gst-export", ARGS, labels={"run": "client"})
    assert (job.state, job.labels, job.replayed) == (State.QUEUED, {"run": "client"}, False)
    job = library.wait(job, timeout=120)
    assert job.succeeded, job.error
    assert job.result is not None
    assert job.result.rows == ROWS

    line = BreaksOnce()
    size = library.download(job, tmp_path / "report.csv.gz", show=line)
    assert file_totals(tmp_path / "report.csv.gz").rows == ROWS
    data = (tmp_path / "report.csv.gz").read_bytes()
    assert size == len(data) == job.result.bytes
    received = [each for each, _ in line.told]
    assert received == sorted(received)  # it went on where it broke off, not from the beginning
    assert {total for _, total in line.told} == {size}
    assert library.result(library.api.address(job.result.url or "")) == data


def test_changes_are_followed_and_a_wait_that_ends_early_leaves_the_job_to_be_cancelled(library: Coatcheck) -> None:
    seen = list(library.follow(library.submit("probe", {"seconds": 2, "steps": 4})))
    assert [each.progress.done for each in seen] == sorted(each.progress.done for each in seen)
    assert (seen[0].final, seen[-1].state) == (False, State.SUCCEEDED)

    job = library.submit("probe", {"seconds": 60, "steps": 600})
    with pytest.raises(StillOpen) as still_open:
        library.wait(job, timeout=2)
    assert still_open.value.job is not None
    assert still_open.value.job.id == job.id
    library.cancel(job)
    assert library.wait(job, timeout=30).state is State.CANCELLED
    with pytest.raises(Refused) as refused:
        library.download(job, "nowhere")
    assert refused.value.status == 404


def test_a_key_makes_one_job_and_a_retry_another(library: Coatcheck) -> None:
    args = {"fail_times": 1, "fail_with": "permanent"}
    first = library.submit("probe", args, key="library")
    again = library.submit("probe", args, key="library")
    assert (again.id, again.replayed) == (first.id, True)
    failed = library.wait(first, timeout=30)
    assert (failed.state, failed.error is not None) == (State.FAILED, True)
    retried = library.retry(failed)
    assert (retried.retry_of, library.retry(failed).id) == (first.id, retried.id)
    library.wait(retried, timeout=30)


def test_kinds_are_told(library: Coatcheck) -> None:
    kinds = {kind.name: kind for kind in library.kinds()}
    assert kinds["gst-export"].unique == ("seller_id", "period")
