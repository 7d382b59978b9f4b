"""A worker that wakes after its lease: another attempt has the job, and nothing of the first one lands."""

from collections.abc import Callable

import pytest

from coatcheck.claim import Claimed, claim
from coatcheck.endings import LeaseLost
from coatcheck.job import Error, Job, Progress
from coatcheck.memory import MemoryStore
from coatcheck.outcome import Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.row import Row
from coatcheck.run.lease import HeldLease
from coatcheck.takeover import take_over
from coatcheck.write import Write
from tests.coatcheck.attempts import Attempt, held
from tests.coatcheck.rows import TIMINGS, doorbell, job_in

SUCCESS = Succeeded(result=Result(rows=1))
TRANSIENT = Failed(error=Error(type="Timeout", message="no answer"))
PERMANENT = Failed(error=Error(type="Permanent", message="no", retryable=False))
OUTCOMES: tuple[Outcome, ...] = (
    SUCCESS,
    TRANSIENT,
    PERMANENT,
    Cancelled(reason="nothing to do"),
    Yielded(advanced=True),
    Snoozed(delay=TIMINGS.lease),
)


def report_until_it_is_written(lease: HeldLease, at: Attempt) -> None:
    at.clock.advance(10)
    lease.report(Progress(done=100, total=100))


WRITES: list[Callable[[HeldLease, Attempt], object]] = [
    lambda lease, _: lease.save('{"done":7}'),
    report_until_it_is_written,
    lambda lease, at: lease.beat(at.store),
    *(lambda lease, _, outcome=outcome: lease.settle(outcome, 0.5) for outcome in OUTCOMES),
]


def second_attempt(at: Attempt) -> Job:
    """The first worker sleeps past its lease; the supervisor takes the job over and another worker claims it."""
    at.clock.advance(61)
    assert take_over(at.store, at.row, at.clock.now(), TIMINGS) is not None
    claim_ = claim(at.store, doorbell(at.row), "owner-2", at.clock.now(), TIMINGS)
    assert isinstance(claim_, Claimed)
    return claim_.job


@pytest.mark.parametrize("write", WRITES)
def test_no_write_of_the_first_attempt_lands_in_the_second(write: Callable[[HeldLease, Attempt], object]) -> None:
    at = Attempt()
    second = second_attempt(at)
    with pytest.raises(LeaseLost) as lost:
        write(at.lease, at)
    assert (lost.value.job_id, lost.value.attempt) == (at.job.id, 1)
    assert at.row == second
    assert at.lease.stopping()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_no_write_of_the_first_attempt_moves_what_the_second_has_settled(
    write: Callable[[HeldLease, Attempt], object], outcome: Outcome
) -> None:
    at = Attempt()
    second = held(second_attempt(at), at.store, at.objects, at.clock)
    second.save("{}")
    ended = second.settle(outcome, 0.5)
    with pytest.raises(LeaseLost):
        write(at.lease, at)
    assert at.row == ended


def test_no_write_lands_between_the_take_over_and_the_next_claim() -> None:
    at = Attempt()
    at.clock.advance(61)
    taken = take_over(at.store, at.row, at.clock.now(), TIMINGS)
    for write in WRITES:
        with pytest.raises(LeaseLost):
            write(at.lease, at)
    assert at.row == taken


def test_a_worker_that_is_late_but_was_not_taken_over_still_has_its_job() -> None:
    at = Attempt()
    at.clock.advance(600)
    at.lease.beat(at.store)
    assert at.row.lease_until == at.clock.now() + TIMINGS.lease


def test_a_lease_that_is_lost_stays_lost_without_asking_again() -> None:
    class CountingStore(MemoryStore):
        writes = 0

        def write(self, write: Write) -> Row:
            self.writes += 1
            return super().write(write)

    store = CountingStore()
    at = Attempt(store=store)
    second_attempt(at)
    with pytest.raises(LeaseLost):
        at.lease.save("1")
    before = store.writes
    with pytest.raises(LeaseLost):
        at.lease.save("1")
    with pytest.raises(LeaseLost):
        at.lease.report(Progress(done=1))
    assert store.writes == before
    assert job_in(store).cursor is None
