"""What a cancelled job had begun to write is removed; what others wrote is not."""

from datetime import timedelta

import pytest

from coatcheck.job import State
from coatcheck.memory_objects import MemoryObjects
from coatcheck.redrive import redrive
from coatcheck.ring import ring
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_bell, a_job, job_in, seconds, stored
from tests.coatcheck.submits import numbered

PREFIX = f"results/acme/{JOB_ID}/"
CANCELLED = a_job(
    state=State.CANCELLED, started_at=NOW - timedelta(minutes=5), finished_at=NOW, cursor='{"done":7}', due=NOW
)


def written(now: timedelta = timedelta(0)) -> MemoryObjects:
    objects = MemoryObjects(now=NOW - seconds(30) + now)
    objects.begin(f"{PREFIX}report.csv.gz", nonce="n", content_type="text/csv")
    objects.put(f"{PREFIX}index.txt", b"1", nonce="n", content_type="text/plain")
    return objects


def left(objects: MemoryObjects) -> tuple[int, int]:
    return len(objects.uploads), len(objects.contents)


def test_the_uploads_and_objects_of_a_cancelled_job_are_removed_once_it_is_final() -> None:
    objects = written()
    ring(a_bell(stored(CANCELLED), objects=objects), JOB_ID, NOW)
    assert left(objects) == (0, 0)


def test_what_was_written_just_before_the_end_by_a_clock_that_is_ahead_is_removed_too() -> None:
    objects = written(now=seconds(31))
    ring(a_bell(stored(CANCELLED), objects=objects), JOB_ID, NOW)
    assert left(objects) == (0, 0)


@pytest.mark.parametrize("state", [State.FAILED, State.SUCCEEDED])
def test_those_of_a_failed_job_stay_for_a_redrive_and_a_result_stays(state: State) -> None:
    objects = written()
    store = stored(a_job(state=state, started_at=NOW, finished_at=NOW, due=NOW))
    ring(a_bell(store, objects=objects), JOB_ID, NOW)
    assert left(objects) == (1, 1)


def test_another_jobs_output_stays_although_its_id_begins_alike() -> None:
    objects = written()
    objects.put(f"results/acme/{JOB_ID}0/report.csv", b"1", nonce="n", content_type="text/csv")
    ring(a_bell(stored(CANCELLED), objects=objects), JOB_ID, NOW)
    assert left(objects) == (0, 1)


def test_a_job_that_is_tried_again_at_once_keeps_what_it_writes_although_the_clean_up_comes_late() -> None:
    store = stored(CANCELLED)
    again = redrive(store, job_in(store), "key …wxyz", TIMINGS, numbered, NOW + seconds(1))
    assert again.run_at == again.due == NOW + 3 * TIMINGS.clocks_apart
    objects = written(now=seconds(35))  # by the new job, under the same prefix
    ring(a_bell(store, objects=objects), JOB_ID, NOW + seconds(60))
    assert left(objects) == (1, 1)
    assert job_in(store).freed
