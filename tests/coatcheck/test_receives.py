"""Receives of a message are no attempts of its job: only what ran and failed, or died, is charged."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from coatcheck.claim import Claimed, NotClaimed, claim
from coatcheck.doorbell import Doorbell
from coatcheck.job import Reason, State
from coatcheck.memory import MemoryQueues
from coatcheck.ring import ring
from coatcheck.supervisor import supervise
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_bell, a_job, job_in, seconds, stored
from tests.coatcheck.shift import Shift, failing

pytestmark = pytest.mark.usefixtures("kinds")

MOST_RECEIVES = 10
"""After so many, a lane's queue takes a message for one that nobody can claim (tests/infra/test_queues.py)."""

OUTAGE = timedelta(minutes=30)


def test_an_outage_of_half_an_hour_does_not_use_up_a_messages_receives_and_charges_nobody() -> None:
    down = Shift(through=lambda store: FailingStore(under=store, before=10**6, reads=10**6))
    receives = 0
    while sum(down.message.hidden, timedelta(0)) < OUTAGE:
        receives += 1
        assert not down.works(failing(AssertionError("it must not run")), receives=receives)
    assert receives < MOST_RECEIVES
    up = Shift(store=down.store)
    assert up.works(receives=receives + 1)
    assert (up.row.state, up.row.attempt, up.row.failures) == (State.SUCCEEDED, 1, 0)


def test_a_job_whose_worker_dies_each_time_spends_its_budget_and_not_the_receives_of_its_messages() -> None:
    store, queues, now, runs = stored(a_job()), MemoryQueues(), NOW, 0
    while not job_in(store).state.final:
        ring(a_bell(store, queues), JOB_ID, now)
        _, doorbell = queues.rung[-1]
        receives = 1
        while not isinstance(claimed := claim(store, doorbell, f"owner-{now}", now, TIMINGS), NotClaimed):
            assert isinstance(claimed, Claimed)
            runs, receives = runs + 1, receives + 1
            now += TIMINGS.lease + TIMINGS.message_margin  # it dies, and the message that it had hidden comes back
        assert receives == 2
    ring(a_bell(store, queues), JOB_ID, now)
    assert (runs, job_in(store).failures, job_in(store).attempt) == (5, 5, 5)
    assert [letter.error_type for letter in queues.dead_letters] == [Reason.ATTEMPTS_EXHAUSTED]


def test_a_duplicate_of_a_long_jobs_message_is_done_at_once_and_not_received_again_and_again() -> None:
    store = stored(a_job(kind="script"))
    first = claim(store, Doorbell(job_id=JOB_ID, tenant="acme", kind="script", attempt=1), "owner-1", NOW, TIMINGS)
    assert isinstance(first, Claimed)
    shift = Shift(store=store)
    for receives in range(1, MOST_RECEIVES):
        assert shift.works(failing(AssertionError("it must not run")), receives=receives)
    assert (shift.row, shift.message.hidden) == (first.job, [])


Back = Callable[[Shift, MemoryQueues], None]


def by_the_wake_message(shift: Shift, queues: MemoryQueues) -> None:
    ring(a_bell(shift.store, queues), JOB_ID, shift.clock.now())
    _, delay = queues.woken[-1]
    shift.clock.advance_alone(delay.total_seconds())
    ring(a_bell(shift.store, queues), JOB_ID, shift.clock.now())


def by_the_supervisor(shift: Shift, queues: MemoryQueues) -> None:
    shift.clock.advance_alone(TIMINGS.retry_delays[-1].total_seconds() + TIMINGS.due_grace.total_seconds())
    supervise(a_bell(shift.store, queues), shift.clock.now, shift.clock.now() + seconds(1))


def by_its_own_message_after_the_worker_died(shift: Shift, _: MemoryQueues) -> None:
    shift.clock.advance_alone((TIMINGS.lease + TIMINGS.message_margin).total_seconds())
    assert shift.works(failing(AssertionError("it must not run")))


def by_the_supervisor_after_the_worker_died(shift: Shift, queues: MemoryQueues) -> None:
    shift.clock.advance_alone((TIMINGS.lease + TIMINGS.lease_grace).total_seconds())
    supervise(a_bell(shift.store, queues), shift.clock.now, shift.clock.now() + seconds(1))


def test_whichever_way_a_failed_job_comes_back_it_runs_five_times_and_leaves_one_dead_letter() -> None:
    shift, queues = Shift(), MemoryQueues()
    bells, runs = [], 0
    for back in (
        by_the_wake_message,
        by_the_supervisor,
        by_its_own_message_after_the_worker_died,
        by_the_supervisor_after_the_worker_died,
        None,
    ):
        ring(a_bell(shift.store, queues), JOB_ID, shift.clock.now())
        bells.append(bell := queues.rung[-1][1])
        runs += 1
        if back in (by_the_wake_message, by_the_supervisor, None):
            assert shift.works(failing(ConnectionError(f"no answer in run {runs}")))
        else:
            assert isinstance(claim(shift.store, bell, f"died-{runs}", shift.clock.now(), TIMINGS), Claimed)
        if back is not None:
            back(shift, queues)
            assert (shift.row.state, shift.row.failures) == (State.QUEUED, runs)
    for _ in range(3):
        ring(a_bell(shift.store, queues), JOB_ID, shift.clock.now())
    for bell in bells:
        assert shift.works(failing(AssertionError("it must not run")), bell=bell)
    assert (shift.row.state, shift.row.failures, runs) == (State.FAILED, 5, 5)
    (letter,) = queues.dead_letters
    assert (letter.tenant, letter.job_id, letter.error_type) == ("acme", JOB_ID, Reason.ATTEMPTS_EXHAUSTED)
    assert "no answer in run 5" in letter.error_message
