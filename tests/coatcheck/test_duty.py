"""The two duties on a final row: each is marked once, and only the second to be done ends `due`."""

from dataclasses import dataclass

import pytest

from coatcheck.duty import Duty, discharge, tell
from coatcheck.job import Job, State, Wrote
from coatcheck.memory import MemoryStore
from coatcheck.ring import ring
from coatcheck.store import Unavailable
from tests.coatcheck.faults import FailingStore, RepeatingStore, losing
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_bell, a_job, job_in, stored

DUE = NOW + TIMINGS.due_grace


@dataclass
class End:
    """A job that has just come to its end, as the stream's image and a ring's first read show it."""

    store: MemoryStore
    seen: Job

    @property
    def left(self) -> tuple[bool, bool, bool]:
        """Whether it is freed, told, and still due."""
        job = job_in(self.store)
        return job.freed, job.told, job.due is not None


@pytest.fixture
def end() -> End:
    job = a_job(state=State.SUCCEEDED, due=DUE)
    return End(stored(job), job)


def conclude(store: MemoryStore) -> None:
    ring(a_bell(store), JOB_ID, NOW)


def test_a_ring_before_the_recorder_leaves_the_row_due_for_it(end: End) -> None:
    conclude(end.store)
    assert end.left == (True, False, True)
    tell(end.store, job_in(end.store))
    assert end.left == (True, True, False)


def test_a_recorder_before_the_ring_leaves_the_row_due_for_it(end: End) -> None:
    tell(end.store, end.seen)
    assert end.left == (False, True, True)
    conclude(end.store)
    assert end.left == (True, True, False)


def test_a_recorder_whose_image_is_older_than_the_ring_is_refused_and_ends_due_all_the_same(end: End) -> None:
    conclude(end.store)
    tell(end.store, end.seen)
    assert end.left == (True, True, False)


def test_a_ring_that_read_the_row_before_the_recorder_wrote_is_refused_and_ends_due_all_the_same(end: End) -> None:
    tell(end.store, end.seen)
    discharge(end.store, end.seen, Duty.FREED)
    assert end.left == (True, True, False)


@pytest.mark.parametrize("duty", list(Duty))
def test_a_duty_that_two_do_at_once_is_done_once_and_nothing_else_is(end: End, duty: Duty) -> None:
    discharge(end.store, end.seen, duty)
    once = job_in(end.store)
    discharge(end.store, end.seen, duty)
    assert job_in(end.store) == once
    assert (once.due, once.wrote) == (DUE, Wrote.MARK)


@pytest.mark.parametrize("first", list(Duty))
def test_a_duty_whose_answer_was_lost_finds_its_own_effect(end: End, first: Duty) -> None:
    for duty in sorted(Duty, key=lambda each: each is not first):
        discharge(RepeatingStore(under=end.store), end.seen, duty)
    assert end.left == (True, True, False)


def test_a_duty_that_cannot_be_marked_is_owed_until_it_is(end: End) -> None:
    with pytest.raises(Unavailable):
        tell(losing(end.store, "before", 1), end.seen)
    assert end.left == (False, False, True)


def test_a_row_that_is_gone_is_not_resurrected_by_a_duty(end: End) -> None:
    end.store.rows.clear()
    tell(end.store, end.seen)
    assert end.store.rows == {}


def test_each_duty_takes_one_write_unless_the_other_was_ended_meanwhile(end: End) -> None:
    store = FailingStore(under=end.store)
    tell(store, end.seen)
    assert store.calls == ["write"]
    discharge(store, end.seen, Duty.FREED)
    assert store.calls == ["write", "write", "write"]
