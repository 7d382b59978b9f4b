"""What a pause does to a job, wherever the job is and whoever is at it at the same moment."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given

from coatcheck.cancellation import cancel
from coatcheck.claim import Claimed, NotClaimed, claim
from coatcheck.doorbell import Doorbell
from coatcheck.hold import Hold, park_write, take_back_write
from coatcheck.job import Job, State, Wrote
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import (
    GiveUp,
    Nothing,
    Park,
    Postpone,
    Requeue,
    Send,
    Step,
    StepAside,
    TakeBack,
    TakeOver,
    Wait,
    next_step,
)
from coatcheck.outcome import Failed, Yielded
from coatcheck.pause import Order, pause, resume
from coatcheck.queued import sent_write
from coatcheck.ring import ring
from coatcheck.settle import settle_write
from coatcheck.store import Refused
from coatcheck.unstarted import settle_unstarted
from tests.coatcheck.holds import FIRST, HOLD, MARK, MARKED, NO_MARK, OTHER, PROBE, Counter, at, mark
from tests.coatcheck.rows import (
    JOB_ID,
    NOW,
    TIMINGS,
    a_bell,
    a_job,
    an_owned_job,
    doorbell,
    job_in,
    seconds,
    stored,
)
from tests.coatcheck.submits import ACME
from tests.coatcheck.test_entry import FAULT
from tests.coatcheck.test_next_step import around_now, jobs

SOON = NOW + seconds(30)


@pytest.mark.parametrize(
    ("job", "step"),
    [
        pytest.param(a_job(), Park(hold=HOLD), id="never sent"),
        pytest.param(a_job(attempt=3, sent=2), Park(hold=HOLD), id="an older number was sent"),
        pytest.param(a_job(due=NOW), Park(hold=HOLD), id="never sent, overdue"),
        pytest.param(a_job(**MARK, due=SOON), StepAside(), id="marked"),
        pytest.param(a_job(**MARK, due=NOW), Postpone(due=NOW + TIMINGS.ring_again), id="marked, overdue"),
        pytest.param(a_job(**MARK, due=None), Postpone(due=NOW + TIMINGS.ring_again), id="marked, nobody would look"),
        pytest.param(a_job(waiting=OTHER.limiter, waits_since=NOW, due=SOON), Park(hold=HOLD), id="marked by another"),
        pytest.param(a_job(sent=1, due=SOON), Nothing(), id="its doorbell is out"),
        pytest.param(a_job(sent=1, due=NOW), TakeBack(hold=HOLD), id="its doorbell is out for too long"),
        pytest.param(a_job(run_at=SOON, due=SOON), Wait(until=SOON), id="scheduled"),
        pytest.param(a_job(created_at=NOW - TIMINGS.give_up_after, **MARK), GiveUp(), id="held for a month"),
        pytest.param(a_job(state=State.RETRYING, retry_at=NOW), Requeue(), id="retry due"),
        pytest.param(an_owned_job(), Nothing(), id="running"),
        pytest.param(an_owned_job(lease_until=NOW - seconds(1)), TakeOver(), id="its worker died"),
    ],
)
def test_a_held_job_is_owed_one_thing(job: Job, step: Step) -> None:
    assert next_step(job, NOW, TIMINGS, HOLD) == step


def test_a_held_job_is_looked_at_again_no_later_than_it_is_given_up() -> None:
    nearly = a_job(created_at=NOW + seconds(9) - TIMINGS.give_up_after, **MARK, due=NOW)
    assert next_step(nearly, NOW, TIMINGS, HOLD) == Postpone(due=NOW + seconds(9))
    assert park_write(nearly, HOLD, NOW, TIMINGS).set["due"] == round((NOW + seconds(9)).timestamp() * 1000)


def test_a_job_that_was_not_sent_is_marked_and_not_sent() -> None:
    counter = at(a_job())
    assert counter.ring() == Park(hold=HOLD)
    assert (mark(counter.job), counter.job.attempt, counter.sent) == (MARKED, 1, [])
    assert (counter.job.due, counter.job.wrote) == (NOW + TIMINGS.ring_again, Wrote.TRANSITION)
    assert counter.ring(NOW + seconds(1)) == StepAside()
    assert counter.ring(NOW + TIMINGS.ring_again) == Postpone(due=NOW + 2 * TIMINGS.ring_again)
    assert (mark(counter.job), counter.job.wrote) == (MARKED, Wrote.MARK)


def test_a_job_that_is_held_twice_waits_for_both() -> None:
    counter = at(a_job())
    pause(counter.store, OTHER.limiter, Order(by="operator-2", at=NOW))
    counter.ring()
    counter.resume()
    assert counter.walk(NOW + seconds(9)) == {"Park": 1}
    assert (counter.job.waiting, counter.job.paused_by) == (OTHER.limiter, "operator-2")
    assert counter.job.waits_since == NOW  # it does not lose its place
    resume(counter.store, OTHER.limiter, FIRST)
    assert counter.walk(NOW + seconds(10)) == {"Send": 1}


def test_a_number_that_is_taken_back_is_never_owed_again_so_that_its_doorbell_is_stale() -> None:
    counter = at(a_job(sent=1, rings=1, due=NOW))
    old = doorbell(counter.job)
    assert counter.ring() == TakeBack(hold=HOLD)
    assert (counter.job.attempt, counter.job.failures, mark(counter.job)) == (2, 0, MARKED)
    assert (counter.job.due, counter.job.wrote) == (NOW + TIMINGS.due_grace, Wrote.TRANSITION)
    assert isinstance(claim(counter.store, old, "owner-1", NOW, TIMINGS), NotClaimed)
    counter.resume()
    counter.walk()
    assert counter.sent == [2]
    assert isinstance(claim(counter.store, old, "owner-1", NOW, TIMINGS), NotClaimed)
    assert isinstance(claim(counter.store, doorbell(counter.job), "owner-1", NOW, TIMINGS), Claimed)


def test_two_who_take_one_number_back_raise_it_once() -> None:
    counter = at(a_job(sent=1))
    write = take_back_write(doorbell(counter.job), HOLD, NOW, TIMINGS)
    counter.store.write(write)
    with pytest.raises(Refused):
        counter.store.write(write)
    assert counter.job.attempt == 2


@pytest.mark.parametrize("first", ["claim", "take-back"])
def test_of_a_claim_and_a_take_back_one_counts(first: str) -> None:
    counter = at(a_job(sent=1))
    bell = doorbell(counter.job)
    if first == "claim":
        assert isinstance(claim(counter.store, bell, "owner-1", NOW, TIMINGS), Claimed)
    try:
        counter.store.write(take_back_write(bell, HOLD, NOW, TIMINGS))
    except Refused:
        assert first == "claim"
    claim(counter.store, bell, "owner-2", NOW, TIMINGS)
    expected = (State.RUNNING, 1, "owner-1", NO_MARK) if first == "claim" else (State.QUEUED, 2, None, MARKED)
    assert (counter.job.state, counter.job.attempt, counter.job.owner, mark(counter.job)) == expected


def test_a_doorbell_of_another_tenant_takes_nothing_back() -> None:
    counter = at(a_job(sent=1))
    with pytest.raises(Refused):
        counter.store.write(take_back_write(doorbell(counter.job, tenant="globex"), HOLD, NOW, TIMINGS))


def test_a_send_that_a_pause_overtakes_leaves_no_mark_and_the_worker_takes_it_back() -> None:
    class PausedMeanwhile(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            counter.pause()
            ring(a_bell(counter.store), JOB_ID, NOW)

    counter = Counter(stored(a_job()), PausedMeanwhile())
    assert counter.ring() == Send()
    assert (counter.job.sent, mark(counter.job), counter.sent) == (1, NO_MARK, [1])


@pytest.mark.parametrize("faster", ["a send", "a cancellation", "a take-back"])
def test_a_park_that_somebody_overtakes_changes_nothing(faster: str) -> None:
    counter = at(a_job())
    late = park_write(counter.job, HOLD, NOW + seconds(9), TIMINGS)
    match faster:
        case "a send":
            counter.store.write(sent_write(counter.job, NOW, TIMINGS))
        case "a cancellation":
            cancel(counter.store, ACME, JOB_ID, NOW, TIMINGS)
        case "a take-back":
            counter.store.write(take_back_write(doorbell(counter.job), OTHER, NOW, TIMINGS))
    before = counter.job
    with pytest.raises(Refused):
        counter.store.write(late)
    assert counter.job == before


def test_a_dispatcher_that_does_not_know_of_the_pause_yet_does_not_send_what_was_just_taken_back() -> None:
    counter = at(a_job(), paused=False)
    assert counter.ring() == Send()
    counter.pause()
    counter.store.write(take_back_write(doorbell(counter.job), HOLD, NOW + seconds(1), TIMINGS))
    assert counter.ring(NOW + seconds(2)) == StepAside()
    assert counter.sent == [1]


@pytest.mark.parametrize("outcome", [Yielded(advanced=True), Failed(error=FAULT)])
def test_a_job_that_comes_back_under_a_pause_is_parked_with_its_next_number(outcome: Yielded | Failed) -> None:
    counter = at(an_owned_job())
    counter.store.write(settle_write(counter.job, 1, outcome, counter.job.progress, NOW, TIMINGS, timedelta(0)))
    while not isinstance(counter.ring(), StepAside):
        pass
    assert (counter.job.state, counter.job.attempt, mark(counter.job)) == (State.QUEUED, 2, MARKED)
    assert counter.sent == []


def test_a_dead_workers_job_is_charged_and_parked() -> None:
    counter = at(an_owned_job(lease_until=NOW - seconds(1)))
    assert counter.ring() == TakeOver()
    assert counter.ring() == Park(hold=HOLD)
    assert (counter.job.failures, counter.sent) == (1, [])


def test_every_write_that_moves_a_parked_job_on_removes_its_mark() -> None:
    parked = a_job(**MARK, due=NOW)

    def claimed(store: MemoryStore) -> None:
        claim(store, doorbell(parked), "owner-1", NOW, TIMINGS)

    def cancelled(store: MemoryStore) -> None:
        cancel(store, ACME, JOB_ID, NOW, TIMINGS)

    def never_started(store: MemoryStore) -> None:
        settle_unstarted(store, doorbell(parked), NOW, TIMINGS)

    def sent(store: MemoryStore) -> None:
        ring(a_bell(store), JOB_ID, NOW)

    def given_up(store: MemoryStore) -> None:
        ring(a_bell(store), JOB_ID, parked.created_at + TIMINGS.give_up_after)

    for move in (claimed, cancelled, never_started, sent, given_up):
        store = stored(parked)
        move(store)
        assert mark(job_in(store)) == NO_MARK, move.__name__
        assert store.count_waiting(PROBE) == 0


@given(job=jobs(), now=around_now)
def test_a_held_job_comes_to_rest_unsent_with_somebody_who_will_look_again(job: Job, now: datetime) -> None:
    if job.state is not State.QUEUED:
        return
    counter = at(job)
    for _ in range(4):
        counter.ring(now)
    after = counter.job
    assert counter.sent == []
    assert after.attempt - job.attempt in (0, 1)
    assert job.attempt in {after.attempt, job.sent}
    assert after.state is State.FAILED or (after.due is not None and after.due > now)


def test_two_rings_at_once_mark_a_job_once_and_so_does_its_history() -> None:
    job = a_job()
    store = stored(job)
    hold = Hold(limiter="tenant#acme", by="operator")
    store.write(park_write(job, hold, NOW, TIMINGS))
    with pytest.raises(Refused):
        store.write(park_write(job, hold, NOW + seconds(0.07), TIMINGS))
