"""Slots: no more jobs in flight than a cap allows, whatever comes twice, late or half, and none is lost."""

from datetime import timedelta

import pytest

from coatcheck.job import State, Wrote
from coatcheck.memory import MemoryStore
from coatcheck.next_step import Conclude, Send, StandInLine
from coatcheck.pause import Order, Scope, limiter, pause
from coatcheck.queued import requeue_write
from coatcheck.ring import take
from coatcheck.row import Row
from coatcheck.slots import LOOK_AGAIN, free, slots_key
from coatcheck.store import Unavailable
from coatcheck.write import Write
from tests.coatcheck.lines import ACME, an_id, line, queued
from tests.coatcheck.rows import NOW, TIMINGS, seconds

LATER = NOW + seconds(1)
ENDED = {"state": State.SUCCEEDED, "finished_at": NOW}


def test_a_job_takes_a_slot_before_it_is_sent_and_one_too_many_stands_in_line() -> None:
    at = line(*map(queued, (1, 2, 3)))
    assert [at.ring(number) for number in (1, 2, 3)] == [Send(), Send(), StandInLine(limiter=ACME)]
    assert (at.sent, at.held()) == ([1, 2], {1: 1, 2: 1})
    waits = at.job(3)
    assert (waits.waiting, waits.waits_since, waits.sent, waits.wrote) == (ACME, waits.ready_at, 0, Wrote.MARK)
    assert waits.due == NOW + TIMINGS.ring_again
    assert at.due() == NOW + LOOK_AGAIN


def test_a_slot_that_is_free_again_goes_to_whoever_has_waited_longest() -> None:
    at = line(*map(queued, range(1, 6)))
    for number in (1, 2, 5, 4, 3):
        at.ring(number)
    at.change(2, **ENDED)
    assert at.ring(2) == Conclude()
    assert (at.sent, at.held()) == ([1, 2, 3], {1: 1, 3: 1})
    assert (at.job(3).waiting, at.job(4).waiting) == (None, ACME)


def test_a_job_that_is_tried_again_stands_behind_who_waited_while_it_waited_for_its_retry() -> None:
    at = line(queued(1, state=State.RETRYING, attempt=2, failures=1), queued(2), queued(3), cap=1)
    at.ring(2)
    at.ring(3)
    at.store.write(requeue_write(at.job(1), LATER, TIMINGS))
    at.ring(1, LATER)
    assert at.job(1).waits_since == LATER
    at.change(2, **ENDED)
    at.ring(2, LATER)
    assert at.sent == [2, 3]


def test_without_a_cap_there_are_no_slots() -> None:
    at = line(queued(1, lane="bulk"))
    assert at.ring(1) == Send()
    assert list(at.store.rows) == [queued(1).key]


@pytest.mark.parametrize("again", [1, 2])
def test_what_is_rung_or_freed_twice_takes_and_frees_once(again: int) -> None:
    at = line(*map(queued, (1, 2, 3)))
    for _ in range(again):
        at.ring(1)
    at.change(1, sent=0)  # its sender died before the mark
    at.ring(1)
    assert at.held() == {1: 1}
    at.ring(2)
    at.ring(3)
    at.change(1, **ENDED, freed=False)
    for _ in range(again):
        at.change(1, freed=False)
        at.ring(1)
    assert (at.held(), at.sent[-1]) == ({2: 1, 3: 1}, 3)


def test_a_record_that_is_replayed_frees_nothing_of_a_newer_attempt() -> None:
    at = line(*map(queued, (1, 2, 3)))
    at.ring(1)
    stale = at.job(1)
    at.change(1, state=State.RETRYING, attempt=2, retry_at=NOW + seconds(30), due=NOW + seconds(30))
    retrying = at.job(1)
    at.ring(1)
    assert at.held() == {}
    at.store.write(requeue_write(retrying, NOW, TIMINGS))
    at.ring(1)
    assert at.held() == {1: 2}

    free(at.store, ACME, stale, NOW)
    free(at.store, ACME, retrying, NOW)
    assert at.held() == {1: 2}


def test_a_ring_that_stood_still_does_not_take_the_slot_of_a_newer_attempt_back_to_its_own_number() -> None:
    """Else the supervisor found an entry of a number that is over, and freed the slot of an attempt that runs."""
    at = line(queued(1), queued(2))
    stale = at.job(1)
    at.change(1, attempt=2)
    at.ring(1)
    at.change(1, state=State.RUNNING)
    take(at.bell, stale, Send(), NOW)
    assert at.held() == {1: 2}
    assert (at.job(1).attempt, at.job(1).waiting, at.sent) == (2, None, [1])


@pytest.mark.parametrize(
    "changes",
    [
        {"state": State.RETRYING, "attempt": 2, "retry_at": NOW + seconds(30)},
        {"state": State.RETRYING, "attempt": 2, "retry_at": NOW + timedelta(hours=2)},
        {"state": State.QUEUED, "attempt": 2, "run_at": NOW + seconds(30)},
        {"state": State.CANCELLED, "finished_at": NOW},
        {"state": State.FAILED, "finished_at": NOW},
    ],
)
def test_whoever_is_not_in_flight_holds_no_slot_and_its_place_is_taken(changes: dict[str, object]) -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(1, due=NOW, **changes)
    at.ring(1)
    assert (at.held(), at.sent) == ({2: 1}, [1, 2])


def test_a_yield_keeps_its_slot_and_raises_its_number() -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(1, attempt=2)
    assert at.ring(1) == Send()
    assert (at.held(), at.sent) == ({1: 2}, [1, 1])


def test_a_slot_freed_between_the_refusal_and_the_mark_is_taken_at_the_second_try() -> None:
    class FreedAtTheMark(MemoryStore):
        def write(self, write: Write) -> Row:
            row = super().write(write)
            if write.key == queued(2).key and "waiting" in row:
                self.rows[slots_key(ACME)]["held"] = {}
            return row

    at = line(*map(queued, (1, 2)), cap=1)
    at.store.__class__ = FreedAtTheMark
    at.ring(1)
    assert at.ring(2) == Send()
    assert (at.job(2).waiting, at.job(2).sent) == (None, 1)


def test_who_was_to_be_sent_when_its_sender_died_is_sent_before_who_waits_longer() -> None:
    at = line(*map(queued, (1, 2, 3)), cap=1)
    for number in (1, 3, 2):
        at.ring(number)
    at.change(1, **ENDED)
    at.slots()["held"] = {an_id(3): 1}  # taken for it, and no more
    at.ring(1)
    assert (at.sent, at.job(2).waiting) == ([1, 3], ACME)


def test_several_limiters_are_taken_all_or_none_and_the_mark_names_the_full_one() -> None:
    at = line(queued(1), queued(2), queued(3, tenant="bazaar"), cap=5, kinds={"probe": 2})
    assert [at.ring(number) for number in (1, 2)] == [Send(), Send()]
    assert at.ring(3) == StandInLine(limiter="kind#probe")
    assert at.held("kind#probe") == {1: 1, 2: 1}
    assert at.held("tenant#interactive#bazaar") == {}
    at.change(1, **ENDED)
    at.ring(1)
    assert (at.sent, at.held("kind#probe"), at.held("tenant#interactive#bazaar")) == ([1, 2, 3], {2: 1, 3: 1}, {3: 1})


def test_a_walk_goes_on_behind_somebody_who_waits_for_another_limiter() -> None:
    values = {1: "a", 2: "b", 3: "b", 4: "a", 5: "c"}
    at = line(*(queued(n, cap_value=value) for n, value in values.items()), cap=2, values={"probe": 1})
    for number in values:
        at.ring(number)
    assert [at.job(number).waiting for number in values] == [None, None, ACME, ACME, ACME]
    at.change(1, **ENDED)
    at.ring(1)
    assert at.job(3).waiting == "value#probe#b"  # its own is not free, but there is a slot for the next
    assert (at.sent, at.job(5).waiting) == ([1, 2, 4], ACME)


def test_jobs_with_the_same_value_run_one_at_a_time() -> None:
    at = line(*(queued(n, cap_value="user-1") for n in (1, 2)), cap=5, values={"probe": 1})
    assert [at.ring(1), at.ring(2)] == [Send(), StandInLine(limiter="value#probe#user-1")]
    at.change(1, **ENDED)
    at.ring(1)
    assert at.sent == [1, 2]


def test_a_paused_job_leaves_its_slot_to_others() -> None:
    at = line(queued(1), queued(2, kind="gst-export"), cap=1)
    at.ring(1)
    at.ring(2)
    pause(at.store, limiter(Scope.KIND, "probe"), Order(by="ops", at=NOW))
    at.change(1, attempt=2)  # it yielded
    at.ring(1, NOW + seconds(6))
    assert (at.held(), at.sent, at.job(1).waiting) == ({2: 1}, [1, 2], "pause#kind#probe")


def test_who_waits_for_a_slot_and_is_paused_meanwhile_waits_for_the_end_of_the_pause() -> None:
    at = line(queued(1), queued(2, kind="gst-export"), queued(3), cap=1)
    for number in (1, 2, 3):
        at.ring(number)
    pause(at.store, limiter(Scope.KIND, "gst-export"), Order(by="ops", at=NOW))
    at.change(1, **ENDED)
    at.ring(1, NOW + seconds(6))
    assert (at.sent, at.held(), at.job(2).waiting) == ([1, 3], {3: 1}, "pause#kind#gst-export")


def test_a_waiting_job_whose_time_to_be_looked_at_has_come_stays_in_line_and_is_looked_at_later() -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    due = at.job(2).due
    assert due is not None
    assert at.ring(2, due) == StandInLine(limiter=ACME)
    assert at.job(2).due == due + TIMINGS.ring_again


def test_a_service_that_does_not_answer_sends_nobody() -> None:
    class Down(MemoryStore):
        def write(self, write: Write) -> Row:  # noqa: ARG002  # the port's signature
            raise Unavailable("ThrottlingException")

    at = line(queued(1))
    at.store.__class__ = Down
    with pytest.raises(Unavailable):
        at.ring(1)
    assert at.sent == []


def test_thirty_jobs_of_a_cap_of_three_run_in_order_each_once_and_never_more_than_three() -> None:
    at = line(*map(queued, range(1, 31)), cap=3)
    for number in range(1, 31):
        at.ring(number)
    done: list[int] = []
    while len(done) < 30:
        assert len(at.held()) <= 3
        running = [number for number in at.sent if number not in done]
        at.change(running[0], **ENDED)
        at.ring(running[0])
        done.append(running[0])
    assert done == list(range(1, 31))
    assert [at.job(number).attempt for number in range(1, 31)] == [1] * 30
    assert at.held() == {}
