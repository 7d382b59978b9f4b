"""Schedules without overlap: a tick is skipped while the last job is open, and there is nothing to unlock."""

from collections.abc import Sequence

import pytest

from coatcheck.job import State, job_key
from coatcheck.memory import MemoryStore
from coatcheck.problem import Conflict
from coatcheck.tick import Taken
from coatcheck.write import Table, Write, update
from tests.coatcheck.rows import NOW, seconds
from tests.coatcheck.submits import asked, at_once, jobs_in, keys_in, move
from tests.coatcheck.ticks import ALONE, HOUR, at, by_hand, job_of_tick, record, taken

pytestmark = pytest.mark.usefixtures("kinds")

OPEN = [state for state in State if not state.final]
FINAL = [state for state in State if state.final]


@pytest.mark.parametrize("state", OPEN)
def test_without_overlap_a_tick_is_skipped_while_the_last_job_is_open_and_that_is_recorded(state: State) -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    move(store, job_of_tick(store, first), state)
    for hours in (1, 2, 3):
        assert taken(store, at(ALONE, hours)) == Taken(skipped_for=first.job_id)
    assert len(jobs_in(store)) == 1
    seen = record(store)
    assert (seen.skipped, seen.last_skip, seen.skipped_for) == (3, NOW + 3 * HOUR, first.job_id)
    assert (seen.last_tick, seen.last_job) == (NOW, first.job_id)


@pytest.mark.parametrize("state", FINAL)
def test_whatever_ends_the_last_job_lets_the_next_tick_through(state: State) -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    taken(store, at(ALONE, 1))
    move(store, job_of_tick(store, first), state)
    second = taken(store, at(ALONE, 2))
    assert second.job_id not in (None, first.job_id)
    assert record(store).skipped == 1


def test_a_job_whose_row_is_gone_is_in_nobodys_way() -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    del store.rows[job_of_tick(store, first).key]
    assert taken(store, at(ALONE, 1)).job_id is not None


def test_a_job_that_is_tried_again_is_still_the_schedules_job() -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    again = asked(store, {}).job
    store.write(update(job_key(str(first.job_id)), (), {"state": State.FAILED, "retried_as": again.id}))
    assert taken(store, at(ALONE, 1)) == Taken(skipped_for=again.id)
    move(store, again, State.SUCCEEDED)
    assert taken(store, at(ALONE, 2)).job_id is not None


def test_a_skipped_tick_that_fires_again_stays_skipped_and_is_counted_once() -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    skipped = at(ALONE, 1)
    taken(store, skipped)
    move(store, job_of_tick(store, first), State.SUCCEEDED)
    for _ in range(3):
        assert taken(store, skipped, late=seconds(61)) == Taken(skipped_for=first.job_id, before=True)
    assert len(jobs_in(store)) == 1
    assert record(store).skipped == 1


def test_of_ticks_that_fire_at_once_without_overlap_one_makes_a_job_and_the_others_are_skipped() -> None:
    store = MemoryStore()
    results = at_once(8, lambda number: taken(store, at(ALONE, number)))
    (job,) = jobs_in(store)
    assert sorted(str(each.job_id or each.skipped_for) for each in results) == [job.id] * 8
    assert sum(each.skipped_for is not None for each in results) == 7
    assert record(store).skipped == 7


def test_a_late_tick_that_makes_a_job_is_what_the_next_one_must_not_overlap() -> None:
    store = MemoryStore()
    newer = taken(store, at(ALONE, 2))
    move(store, job_of_tick(store, newer), State.SUCCEEDED)
    late = taken(store, ALONE, late=3 * HOUR)
    assert late.job_id is not None
    assert taken(store, at(ALONE, 4)) == Taken(skipped_for=late.job_id)


def test_an_older_skip_is_counted_and_does_not_hide_a_newer_one() -> None:
    store = MemoryStore()
    taken(store, ALONE)
    taken(store, at(ALONE, 3))
    taken(store, at(ALONE, 1), late=3 * HOUR)
    seen = record(store)
    assert (seen.skipped, seen.last_skip) == (2, NOW + 3 * HOUR)


def test_without_overlap_a_run_by_hand_is_refused_while_a_job_is_open_and_its_own_job_holds_ticks_off() -> None:
    store = MemoryStore()
    first = taken(store, ALONE)
    with pytest.raises(Conflict, match=str(first.job_id)):
        taken(store, by_hand("n1", overlap=False))
    assert record(store).skipped == 0
    move(store, job_of_tick(store, first), State.SUCCEEDED)
    hand = taken(store, by_hand("n1", overlap=False))
    assert taken(store, at(ALONE, 1)) == Taken(skipped_for=hand.job_id)


def test_a_tick_that_sees_an_old_record_looks_again() -> None:
    class Overtaken(MemoryStore):
        overtaking = False

        def transact(self, writes: Sequence[Write]) -> None:
            if self.overtaking:
                self.overtaking = False
                taken(self, at(ALONE, 1))
            super().transact(writes)

    store = Overtaken()
    store.overtaking = True
    late = taken(store, ALONE)
    (job,) = jobs_in(store)
    assert late == Taken(skipped_for=job.id)
    assert all(key.table is Table.IDEMPOTENCY for key in keys_in(store))
