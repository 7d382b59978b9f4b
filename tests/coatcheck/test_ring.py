"""Rings: the one thing that is owed is done, and doing it twice does no harm."""

from datetime import timedelta

import pytest

from coatcheck.claim import claim
from coatcheck.doorbell import Doorbell
from coatcheck.job import State, Wrote
from coatcheck.memory import MemoryQueues
from coatcheck.next_step import Nothing, Postpone, Requeue, Send, TakeOver, Wait, Waiting
from coatcheck.queued import sent_write
from coatcheck.ring import ring, take
from coatcheck.store import Unavailable
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_job, an_owned_job, doorbell, seconds
from tests.coatcheck.scenes import scene


def test_a_queued_job_is_sent_to_its_lane_and_marked() -> None:
    at = scene(a_job(lane="bulk", attempt=3, sent=2, rings=4))
    assert ring(at.bell, JOB_ID, NOW) == Send()
    assert at.queues.rung == [("bulk", Doorbell(job_id=JOB_ID, tenant="acme", kind="probe", attempt=3))]
    assert (at.job.sent, at.job.rings, at.job.wrote) == (3, 1, Wrote.MARK)
    assert at.job.due == NOW + TIMINGS.ring_again


def test_a_sent_job_is_rung_again_under_the_same_number_and_ever_more_seldom() -> None:
    at = scene(a_job())
    now, gaps = NOW, []
    for _ in range(5):
        ring(at.bell, JOB_ID, now)
        assert at.job.due is not None
        gaps.append((at.job.due - now) / timedelta(minutes=20))
        now = at.job.due
    assert gaps == [1, 2, 4, 8, 16]
    assert {bell.attempt for _, bell in at.queues.rung} == {1}


def test_a_ring_again_never_waits_so_long_that_it_cannot_be_reckoned() -> None:
    write = sent_write(a_job(sent=1, rings=10**6), NOW, TIMINGS)
    assert write.set["rings"] == 10**6 + 1


def test_two_rings_at_once_mark_once_and_the_second_doorbell_is_stale() -> None:
    at = scene(a_job())
    before = at.job
    take(at.bell, before, Send(), NOW)
    take(at.bell, before, Send(), NOW)
    assert (at.job.sent, at.job.rings) == (1, 1)
    assert len(at.queues.rung) == 2


def test_a_worker_that_is_faster_than_the_mark_keeps_its_claim() -> None:
    class FastWorker(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            claim(at.store, doorbell, "owner-1", NOW, TIMINGS)

    at = scene(a_job(), FastWorker())
    ring(at.bell, JOB_ID, NOW)
    assert (at.job.state, at.job.owner, at.job.sent) == (State.RUNNING, "owner-1", 1)
    assert at.job.due == NOW + TIMINGS.lease + TIMINGS.lease_grace


def test_a_refused_mark_asks_once_more_what_is_owed() -> None:
    class CancelledMeanwhile(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            at.store.rows[at.job.key]["state"] = "cancelled"

    at = scene(a_job(), CancelledMeanwhile())
    ring(at.bell, JOB_ID, NOW)
    assert (at.job.state, at.job.freed, at.job.due) == (State.CANCELLED, True, a_job().due)


def test_a_job_that_vanishes_under_the_ring_is_not_resurrected() -> None:
    class Vanishing(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            at.store.rows.clear()

    at = scene(a_job(), Vanishing())
    ring(at.bell, JOB_ID, NOW)
    assert at.store.rows == {}
    assert ring(at.bell, JOB_ID, NOW) == Nothing()


def test_a_send_that_fails_is_not_marked_so_that_it_is_tried_again() -> None:
    class Silent(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)  # it may have been sent all the same
            raise Unavailable("ThrottlingException")

    at = scene(a_job(), Silent())
    with pytest.raises(Unavailable):
        ring(at.bell, JOB_ID, NOW)
    assert at.job == a_job()


def test_a_wait_is_arranged_once_and_its_end_is_looked_after_even_if_the_message_is_lost() -> None:
    until = NOW + seconds(30)
    at = scene(a_job(state=State.RETRYING, attempt=2, retry_at=until, due=until))
    assert ring(at.bell, JOB_ID, NOW) == Wait(until=until)
    assert ring(at.bell, JOB_ID, NOW) == Waiting(until=until)
    assert ring(at.bell, JOB_ID, NOW + seconds(29)) == Waiting(until=until)
    assert at.queues.woken == [(JOB_ID, seconds(30))]
    assert at.job.due == until + TIMINGS.due_grace
    assert at.job.wrote is Wrote.MARK


def test_a_retry_goes_from_waiting_to_its_lane_in_two_rings() -> None:
    at = scene(a_job(state=State.RETRYING, attempt=2, sent=1, retry_at=NOW, due=NOW + seconds(60)))
    assert ring(at.bell, JOB_ID, NOW) == Requeue()
    assert (at.job.state, at.job.attempt, at.job.retry_at) == (State.QUEUED, 2, None)
    assert (at.job.due, at.job.wrote) == (NOW + TIMINGS.due_grace, Wrote.TRANSITION)
    assert at.queues.rung == []
    assert ring(at.bell, JOB_ID, NOW) == Send()
    assert [bell.attempt for _, bell in at.queues.rung] == [2]


def test_a_wait_that_no_message_can_carry_is_left_to_the_supervisor() -> None:
    until = NOW + timedelta(days=2)
    at = scene(a_job(run_at=until))
    assert ring(at.bell, JOB_ID, NOW) == Postpone(due=until)
    assert ring(at.bell, JOB_ID, NOW) == Nothing()
    assert (at.queues.woken, at.job.due) == ([], until)
    assert ring(at.bell, JOB_ID, until) == Send()


def test_a_live_workers_job_is_only_looked_at_again_after_its_lease() -> None:
    at = scene(an_owned_job(due=NOW))
    assert ring(at.bell, JOB_ID, NOW) == Postpone(due=NOW + seconds(65))
    assert (at.job.due, at.job.state, at.job.owner) == (NOW + seconds(65), State.RUNNING, "owner-1")


def test_a_dead_workers_job_is_taken_over_and_sent_in_two_rings() -> None:
    at = scene(an_owned_job(lease_until=NOW - seconds(1)))
    assert ring(at.bell, JOB_ID, NOW) == TakeOver()
    assert (at.job.state, at.job.failures) == (State.QUEUED, 1)
    assert ring(at.bell, JOB_ID, NOW) == Send()
    assert [bell.attempt for _, bell in at.queues.rung] == [2]


def test_what_a_ring_saw_too_long_ago_changes_nothing() -> None:
    at = scene(an_owned_job(attempt=2, owner="owner-2"))
    now_is = at.job
    stale = a_job(state=State.RETRYING, attempt=2, retry_at=NOW)
    for step in (Requeue(), Postpone(due=NOW), Wait(until=NOW + seconds(1)), TakeOver()):
        take(at.bell, stale, step, NOW)
    assert at.job == now_is


def test_the_mark_of_a_late_ring_does_not_pass_for_the_next_numbers() -> None:
    at = scene(a_job(attempt=3, sent=1, rings=1))
    now_is = at.job
    take(at.bell, a_job(attempt=2, sent=1, rings=1), Send(), NOW)
    assert at.job == now_is


def test_a_late_ring_does_not_undo_what_a_faster_one_arranged() -> None:
    at = scene(an_owned_job(due=NOW + seconds(65)))
    now_is = at.job
    for late in (Postpone(due=NOW + seconds(5)), Wait(until=NOW + seconds(5))):
        take(at.bell, an_owned_job(due=NOW - seconds(55)), late, NOW)
    assert at.job == now_is


def test_the_doorbell_of_a_ring_is_the_one_that_a_claim_takes() -> None:
    at = scene(a_job())
    ring(at.bell, JOB_ID, NOW)
    assert at.queues.rung[0][1] == doorbell(at.job)
