"""Doorbells that no worker could ever claim."""

import pytest

from coatcheck.job import Job, Reason, State
from coatcheck.memory import MemoryQueues
from coatcheck.ring import ring
from coatcheck.unstarted import settle_unstarted
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_bell, a_job, an_owned_job, doorbell, job_in, stored


def test_the_job_fails_as_never_started_and_its_dead_letter_is_left_to_a_ring() -> None:
    store, queues = stored(a_job(sent=1)), MemoryQueues()
    settled = settle_unstarted(store, doorbell(a_job()), NOW, TIMINGS)
    assert settled == job_in(store)
    assert settled is not None
    assert (settled.state, settled.failures, settled.finished_at) == (State.FAILED, 0, NOW)
    assert settled.error is not None
    assert settled.error.type == Reason.NEVER_STARTED
    ring(a_bell(store, queues), JOB_ID, NOW)
    assert [letter.error_type for letter in queues.dead_letters] == ["never_started"]


@pytest.mark.parametrize(
    "row",
    [an_owned_job(), a_job(attempt=2), a_job(state=State.RETRYING), a_job(state=State.SUCCEEDED)],
    ids=["running", "newer number", "retrying", "succeeded"],
)
def test_a_stale_doorbell_settles_nothing(row: Job) -> None:
    store = stored(row)
    assert settle_unstarted(store, doorbell(row, attempt=1), NOW, TIMINGS) is None
    assert job_in(store) == row
