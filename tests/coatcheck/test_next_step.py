"""The one rule: what a job is owed, for every state and moment."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import Error, Job, Reason, State
from coatcheck.memory import MemoryQueues
from coatcheck.next_step import (
    Conclude,
    GiveUp,
    Nothing,
    Postpone,
    Requeue,
    Send,
    Step,
    TakeOver,
    Tell,
    Wait,
    Waiting,
    next_step,
)
from coatcheck.ring import ring
from tests.coatcheck.rows import NOW, TIMINGS, a_bell, a_job, an_owned_job, job_in, seconds, stored

SOON = NOW + seconds(30)
LATER = NOW + timedelta(minutes=16)
PAST = NOW - seconds(1)
DONE = frozenset({Nothing, Waiting})


def owed(job: Job, now: datetime = NOW) -> Step:
    return next_step(job, now, TIMINGS, None)


@pytest.mark.parametrize(
    ("job", "step"),
    [
        pytest.param(a_job(), Send(), id="queued and never sent"),
        pytest.param(a_job(attempt=3, sent=2), Send(), id="queued, an older number was sent"),
        pytest.param(a_job(sent=1, due=NOW + seconds(1)), Nothing(), id="sent, in the lane's backlog"),
        pytest.param(a_job(sent=1, due=NOW), Send(), id="sent long ago and still unclaimed"),
        pytest.param(a_job(sent=1, due=None), Send(), id="sent, but nobody would look again"),
        pytest.param(a_job(run_at=SOON, due=SOON), Wait(until=SOON), id="snoozed"),
        pytest.param(a_job(run_at=SOON, due=SOON + seconds(60)), Waiting(until=SOON), id="snoozed, wait arranged"),
        pytest.param(a_job(run_at=NOW, due=NOW + seconds(60)), Send(), id="snoozed until now"),
        pytest.param(a_job(run_at=LATER), Postpone(due=LATER), id="snoozed for long"),
        pytest.param(a_job(run_at=LATER, due=LATER), Nothing(), id="snoozed for long, and put off"),
        pytest.param(a_job(created_at=NOW - TIMINGS.give_up_after), GiveUp(), id="queued for a month"),
        pytest.param(a_job(sent=1, created_at=NOW - TIMINGS.give_up_after), GiveUp(), id="sent a month ago"),
        pytest.param(a_job(state=State.RETRYING, retry_at=SOON, due=SOON), Wait(until=SOON), id="retrying"),
        pytest.param(
            a_job(state=State.RETRYING, retry_at=SOON, due=SOON + seconds(1)), Waiting(until=SOON), id="wait arranged"
        ),
        pytest.param(a_job(state=State.RETRYING, retry_at=NOW), Requeue(), id="retry due"),
        pytest.param(a_job(state=State.RETRYING, retry_at=None), Requeue(), id="retrying without a time"),
        pytest.param(an_owned_job(), Nothing(), id="running"),
        pytest.param(an_owned_job(due=NOW), Postpone(due=NOW + seconds(65)), id="running, beats moved the lease on"),
        pytest.param(an_owned_job(due=None), Postpone(due=NOW + seconds(65)), id="running, nobody would look"),
        pytest.param(an_owned_job(lease_until=PAST), TakeOver(), id="running, lease over"),
        pytest.param(an_owned_job(lease_until=NOW), Nothing(), id="running, last moment of the lease"),
        pytest.param(an_owned_job(state=State.CANCELLING), Nothing(), id="cancelling"),
        pytest.param(an_owned_job(state=State.CANCELLING, lease_until=PAST), TakeOver(), id="cancelling, lease over"),
        pytest.param(a_job(state=State.SUCCEEDED), Conclude(), id="succeeded"),
        pytest.param(a_job(state=State.FAILED), Conclude(), id="failed"),
        pytest.param(a_job(state=State.CANCELLED), Conclude(), id="cancelled"),
        pytest.param(a_job(state=State.FAILED, told=True), Conclude(), id="told before it was concluded"),
        pytest.param(a_job(state=State.FAILED, freed=True), Nothing(), id="concluded, the recorder is at it"),
        pytest.param(a_job(state=State.FAILED, freed=True, due=NOW), Tell(), id="concluded, and never told"),
        pytest.param(a_job(state=State.FAILED, freed=True, due=None), Tell(), id="never told, nobody would look"),
        pytest.param(a_job(state=State.FAILED, freed=True, told=True, due=None), Nothing(), id="failed, all is done"),
    ],
)
def test_each_job_is_owed_one_thing(job: Job, step: Step) -> None:
    assert owed(job) == step


def test_a_wait_of_exactly_what_a_message_can_carry_is_sent_and_a_longer_one_is_not() -> None:
    border = NOW + TIMINGS.wake_limit
    assert owed(a_job(run_at=border, due=NOW)) == Wait(until=border)
    assert owed(a_job(run_at=border + seconds(1), due=NOW)) == Postpone(due=border + seconds(1))


around_now = st.integers(-40 * 60_000, 40 * 60_000).map(lambda ms: NOW + timedelta(milliseconds=ms))
perhaps = st.none() | around_now
errors = st.none() | st.sampled_from([Reason.ATTEMPTS_EXHAUSTED, Reason.GAVE_UP, "Timeout"]).map(
    lambda kind: Error(type=kind, message="it failed")
)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    attempt = draw(st.integers(1, 6))
    return a_job(
        state=draw(st.sampled_from(State)),
        attempt=attempt,
        failures=draw(st.integers(0, 5)),
        sent=draw(st.integers(0, attempt)),
        rings=draw(st.integers(0, 60)),
        owner=draw(st.none() | st.just("owner-1")),
        lease_until=draw(perhaps),
        claimed_at=draw(perhaps),
        run_at=draw(perhaps),
        retry_at=draw(perhaps),
        due=draw(perhaps),
        freed=draw(st.booleans()),
        told=draw(st.booleans()),
        error=draw(errors),
    )


@given(job=jobs(), now=around_now)
def test_any_job_at_any_time_is_owed_something_and_the_same_whoever_asks(job: Job, now: datetime) -> None:
    step = owed(job, now)
    assert step == owed(replace(job), now)
    if job.state.final:
        assert isinstance(step, Conclude | Tell | Nothing)


@given(job=jobs(), now=around_now)
def test_rings_at_one_moment_come_to_rest_and_each_makes_at_most_one_transition(job: Job, now: datetime) -> None:
    store, queues = stored(job), MemoryQueues()
    bell = a_bell(store, queues)
    states = [job.state]
    steps = []
    for _ in range(4):
        steps.append(type(ring(bell, job.id, now)))
        states.append(job_in(store).state)
    assert steps[-1] in DONE
    at_rest = job_in(store)
    ring(bell, job.id, now)
    assert job_in(store) == at_rest
    assert len(queues.woken) <= 1
    assert len(queues.rung) <= 1
    assert len(queues.dead_letters) <= 1


@given(job=jobs(), now=around_now)
def test_a_job_that_is_owed_something_is_never_left_without_somebody_who_will_look_again(
    job: Job, now: datetime
) -> None:
    owned = job.state in (State.RUNNING, State.CANCELLING)
    if owned and job.lease_until is None:
        return  # no write of the product makes such a row
    store = stored(job)
    bell = a_bell(store)
    for _ in range(4):
        ring(bell, job.id, now)
    after = job_in(store)
    done = after.freed and after.told
    assert done or (after.due is not None and after.due > now)


@given(job=jobs(), now=around_now)
def test_what_one_ring_does_a_second_at_the_same_time_does_not_do_again(job: Job, now: datetime) -> None:
    once = stored(job)
    ring(a_bell(once), job.id, now)
    first = job_in(once)
    assert first.attempt - job.attempt in (0, 1)
    assert first.failures - job.failures in (0, 1)
    if first.attempt != job.attempt:
        assert job.state is State.RUNNING
