"""Claims: one doorbell makes one attempt, or says why not."""

from dataclasses import replace
from typing import Any

import pytest

from coatcheck.claim import Claim, Claimed, NotClaimed, Undecided, claim
from coatcheck.doorbell import Doorbell
from coatcheck.job import Job, State, Wrote
from coatcheck.memory import MemoryStore
from coatcheck.store import Store, Unavailable
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, doorbell, job_in, seconds, stored

QUEUED = a_job(attempt=2, sent=1, started_at=NOW - seconds(600), as_of=NOW - seconds(630), seq=41)


def claimed(store: Store, bell: Doorbell, owner: str = "owner-9", *, now: Any = NOW) -> Claim:
    return claim(store, bell, owner, now, TIMINGS)


def test_a_claim_makes_the_attempt_the_owners_for_the_time_of_a_lease() -> None:
    store = stored(QUEUED)
    claim_ = claimed(store, doorbell(QUEUED))
    job = job_in(store)
    assert claim_ == Claimed(job=job)
    assert (job.state, job.attempt, job.owner) == (State.RUNNING, 2, "owner-9")
    assert (job.lease_until, job.claimed_at) == (NOW + TIMINGS.lease, NOW)
    assert job.due == NOW + TIMINGS.lease + TIMINGS.lease_grace
    assert (job.seq, job.sent, job.run_at, job.wrote) == (0, 2, None, Wrote.TRANSITION)


def test_the_first_claim_sets_what_the_job_sees_of_the_world_and_later_ones_keep_it() -> None:
    first = a_job()
    store = stored(first)
    claimed(store, doorbell(first))
    assert (job_in(store).started_at, job_in(store).as_of) == (NOW, NOW - TIMINGS.source_lag)
    later = stored(QUEUED)
    claimed(later, doorbell(QUEUED))
    assert (job_in(later).started_at, job_in(later).as_of) == (QUEUED.started_at, QUEUED.as_of)


def test_a_doorbell_that_overtakes_its_mark_is_as_good_as_one_that_does_not() -> None:
    job = a_job(sent=0)
    store = stored(job)
    assert isinstance(claimed(store, doorbell(job)), Claimed)
    assert job_in(store).sent == 1


@pytest.mark.parametrize(
    ("row", "bell"),
    [
        pytest.param(an_owned_job(), {}, id="another worker is at it"),
        pytest.param(an_owned_job(state=State.CANCELLING), {}, id="being cancelled"),
        pytest.param(a_job(state=State.RETRYING), {}, id="waits for its retry"),
        pytest.param(a_job(state=State.SUCCEEDED), {}, id="succeeded"),
        pytest.param(a_job(state=State.FAILED), {}, id="failed"),
        pytest.param(a_job(state=State.CANCELLED), {}, id="cancelled"),
        pytest.param(a_job(attempt=3), {"attempt": 2}, id="stale number"),
        pytest.param(a_job(attempt=3), {"attempt": 4}, id="number of the future"),
        pytest.param(a_job(), {"tenant": "globex"}, id="foreign message"),
    ],
)
def test_a_doorbell_that_has_nothing_to_say_is_forgotten_and_nothing_changes(row: Job, bell: dict[str, Any]) -> None:
    store = stored(row)
    assert claimed(store, doorbell(row, **bell)) == NotClaimed(old=row)
    assert job_in(store) == row


def test_a_doorbell_of_a_job_that_is_gone_is_forgotten_and_nothing_is_resurrected() -> None:
    store = MemoryStore()
    assert claimed(store, doorbell(QUEUED)) == NotClaimed(old=None)
    assert store.rows == {}


def test_each_number_is_claimed_once_however_often_its_doorbell_rings() -> None:
    store = stored(QUEUED)
    claims = [claimed(store, doorbell(QUEUED), f"owner-{number}") for number in range(5)]
    assert [type(each) for each in claims] == [Claimed] + [NotClaimed] * 4
    assert job_in(store).owner == "owner-0"


def test_a_doorbell_that_comes_back_because_its_owner_died_takes_the_job_over_and_charges_it() -> None:
    dead = an_owned_job(lease_until=NOW - seconds(1))
    store = stored(dead)
    assert claimed(store, doorbell(dead)) == NotClaimed(old=dead)
    job = job_in(store)
    assert (job.state, job.attempt, job.failures, job.owner) == (State.QUEUED, 2, 1, None)


def test_a_stale_doorbell_does_not_judge_a_newer_attempt() -> None:
    newer = an_owned_job(attempt=2, lease_until=NOW - seconds(1))
    store = stored(newer)
    claimed(store, doorbell(newer, attempt=1))
    assert job_in(store) == newer


def test_a_claim_whose_answer_was_lost_knows_its_own_echo_and_nothing_is_charged() -> None:
    store = stored(QUEUED)
    claim_ = claimed(RepeatingStore(under=store), doorbell(QUEUED))
    assert claim_ == Claimed(job=job_in(store))
    assert job_in(store).failures == 0


def test_a_claim_without_an_answer_is_read_back_and_found() -> None:
    store = stored(QUEUED)
    claim_ = claimed(FailingStore(under=store, after=1), doorbell(QUEUED))
    assert claim_ == Claimed(job=job_in(store))


def test_a_claim_that_was_found_while_the_job_is_being_cancelled_is_the_workers_to_end() -> None:
    class CancelledMeanwhile(FailingStore):
        def get(self, key: Any) -> Any:
            store.rows[QUEUED.key]["state"] = "cancelling"
            return super().get(key)

    store = stored(QUEUED)
    claim_ = claimed(CancelledMeanwhile(under=store, after=1), doorbell(QUEUED))
    assert claim_ == Claimed(job=job_in(store))
    assert job_in(store).state is State.CANCELLING


def test_a_claim_that_did_not_take_effect_is_undecided_and_may_come_again() -> None:
    store = stored(QUEUED)
    failing = FailingStore(under=store, before=1)
    assert claimed(failing, doorbell(QUEUED)) == Undecided()
    assert job_in(store) == QUEUED
    assert isinstance(claimed(failing, doorbell(QUEUED)), Claimed)


def test_a_claim_that_cannot_even_be_read_back_is_undecided() -> None:
    store = stored(QUEUED)
    assert claimed(FailingStore(under=store, after=1, reads=1), doorbell(QUEUED)) == Undecided()


def test_a_claim_without_an_answer_that_somebody_else_won_is_forgotten() -> None:
    other = an_owned_job(attempt=2, owner="owner-2")
    assert claimed(FailingStore(under=stored(other), before=1), doorbell(other)) == NotClaimed(old=other)
    assert claimed(FailingStore(under=stored(), before=1), doorbell(other)) == NotClaimed(old=None)


def test_a_take_over_that_the_service_does_not_answer_lets_the_doorbell_come_back() -> None:
    dead = an_owned_job(lease_until=NOW - seconds(1))

    class TakeOverFails(FailingStore):
        def write(self, write: Any) -> Any:
            if "failures" in write.set:
                raise Unavailable("ThrottlingException")
            return super().write(write)

    store = stored(dead)
    assert claimed(TakeOverFails(under=store), doorbell(dead)) == Undecided()
    assert job_in(store) == dead


def test_a_settled_attempts_owner_in_the_row_does_not_pass_for_an_echo() -> None:
    yielded = replace(QUEUED, owner="owner-1")
    store = stored(yielded)
    assert claimed(store, doorbell(yielded, attempt=1), "owner-2") == NotClaimed(old=yielded)
