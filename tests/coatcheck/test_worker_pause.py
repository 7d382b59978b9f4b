"""A worker that meets a pause before its claim."""

from datetime import timedelta

import pytest

from coatcheck.job import State
from coatcheck.memory import MemoryStore
from coatcheck.pause import Order, Scope, limiter, pause, resume
from coatcheck.store import Store
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, doorbell, seconds
from tests.coatcheck.shift import Shift

pytestmark = pytest.mark.usefixtures("kinds")

SCRIPT = limiter(Scope.KIND, "script")
FIRST = Order(by="operator-1", at=NOW)


def paused(shift: Shift, what: str = SCRIPT) -> Shift:
    pause(shift.store, what, FIRST)
    return shift


@pytest.mark.parametrize("what", [SCRIPT, limiter(Scope.LANE, "interactive"), limiter(Scope.TENANT, "acme")])
def test_a_held_job_is_not_claimed_but_owed_under_its_next_number(what: str) -> None:
    shift = paused(Shift(), what)
    assert shift.works(lambda _, __: pytest.fail("it runs"))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.QUEUED, 2, 0)
    assert (shift.row.waiting, shift.row.waits_since, shift.row.paused_by) == (what, NOW, "operator-1")
    assert shift.row.due == NOW + TIMINGS.due_grace
    assert shift.message.hidden == []


def test_what_is_paused_beside_it_does_not_matter() -> None:
    shift = paused(paused(Shift(), limiter(Scope.LANE, "bulk")), limiter(Scope.TENANT, "globex"))
    assert shift.works()
    assert shift.row.state is State.SUCCEEDED


def test_the_old_doorbell_is_stale_from_then_on_and_the_next_one_runs_after_the_resume() -> None:
    shift = paused(Shift())
    old = doorbell(shift.row)
    shift.works()
    assert shift.works(bell=old)
    assert shift.row.attempt == 2
    resume(shift.store, SCRIPT, FIRST)
    shift.clock.advance_alone(0.001)
    assert shift.works(bell=old)
    assert shift.row.state is State.QUEUED
    assert shift.works()
    assert (shift.row.state, shift.row.attempt, shift.row.failures, shift.row.waiting) == (State.SUCCEEDED, 2, 0, None)


def test_a_resume_is_heard_of_before_a_job_is_taken_back_for_nothing() -> None:
    shift = paused(Shift())
    shift.works()
    resume(shift.store, SCRIPT, FIRST)
    shift.clock.advance_alone(0.001)
    assert shift.works()
    assert (shift.row.state, shift.row.attempt) == (State.SUCCEEDED, 2)


def test_a_kind_that_this_version_does_not_know_is_taken_back_and_not_received_again_and_again() -> None:
    shift = paused(Shift(job=a_job(kind="of-a-later-version")), limiter(Scope.KIND, "of-a-later-version"))
    assert shift.works()
    assert (shift.row.attempt, shift.message.hidden) == (2, [])


def test_a_dead_workers_job_is_taken_over_although_it_is_paused() -> None:
    shift = paused(Shift(job=an_owned_job(kind="script", lease_until=NOW - seconds(1))))
    assert shift.works()
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.QUEUED, 2, 1)


def test_a_running_job_is_left_alone() -> None:
    shift = paused(Shift(job=an_owned_job(kind="script")))
    before = shift.row
    assert shift.works()
    assert shift.row == before


def test_a_take_back_whose_answer_is_lost_counts_once() -> None:
    shift = paused(Shift(through=lambda store: RepeatingStore(under=store)))
    assert shift.works()
    assert (shift.row.state, shift.row.attempt) == (State.QUEUED, 2)


def test_a_take_back_that_the_service_does_not_answer_gives_the_message_back() -> None:
    def once(store: MemoryStore) -> Store:
        return FailingStore(under=store, before=1)

    shift = paused(Shift(through=once))
    assert not shift.works()
    assert (shift.row.attempt, shift.message.hidden) == (1, [timedelta(seconds=20)])
