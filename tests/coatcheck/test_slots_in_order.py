"""Slots in order: who waits comes before whoever comes in just when a slot gets free, and newcomers call nobody."""

from coatcheck.doorbell import Doorbell
from coatcheck.job import State
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import Send, StandInLine
from coatcheck.row import Row, milliseconds
from coatcheck.slots import free, slots_key
from coatcheck.write import Write
from tests.coatcheck.lines import ACME, an_id, line, queued
from tests.coatcheck.rows import NOW

ENDED = {"state": State.SUCCEEDED, "finished_at": NOW}


def test_a_newcomer_leaves_a_slot_that_is_free_just_then_to_those_who_wait() -> None:
    at = line(*map(queued, range(1, 6)))
    for number in (1, 2, 3, 4):
        at.ring(number)
    at.change(1, **ENDED)
    free(at.store, ACME, at.job(1))  # and whoever freed it has not called anybody yet
    assert [at.ring(5), at.ring(4)] == [StandInLine(limiter=ACME)] * 2
    at.ring(1)
    assert (at.sent, at.held()) == ([1, 2, 3], {2: 1, 3: 1})


def test_a_slot_that_gets_free_while_a_newcomer_is_marked_goes_to_whoever_has_waited_longest() -> None:
    class FreedAtTheMark(MemoryStore):
        def write(self, write: Write) -> Row:
            row = super().write(write)
            if write.key == queued(4).key and row.get("waiting") == ACME:
                at.change(1, **ENDED)
                free(self, ACME, at.job(1))
            return row

    at = line(*map(queued, range(1, 5)), cap=1)
    for number in (1, 2, 3):
        at.ring(number)
    at.store.__class__ = FreedAtTheMark
    at.ring(4)
    at.ring(1)
    assert at.sent == [1, 2]


def test_a_newcomer_is_in_turn_if_more_slots_are_free_than_others_wait() -> None:
    at = line(*map(queued, range(1, 5)))
    for number in (1, 2, 3):
        at.ring(number)
    for number in (1, 2):
        at.change(number, **ENDED)
        free(at.store, ACME, at.job(number))
    assert at.ring(4) == Send()
    at.ring(1)
    assert (at.sent, at.held()) == ([1, 2, 4, 3], {3: 1, 4: 1})


def test_a_newcomer_stands_behind_those_who_wait_for_any_of_its_limiters() -> None:
    jobs = (queued(1, tenant="bazaar"), queued(3, tenant="bazaar"), queued(4))
    at = line(*jobs, cap=5, kinds={"probe": 1})
    at.ring(1)
    at.ring(3)
    at.store.rows[slots_key(ACME)] = {"held": {}, "waits_at": milliseconds(NOW), "due": milliseconds(NOW)}
    at.change(1, **ENDED)
    free(at.store, "kind#probe", at.job(1))
    at.ring(4)
    at.ring(1)
    assert at.sent == [1, 3]


def test_a_newcomer_takes_a_free_slot_if_nobody_waits_any_longer() -> None:
    at = line(*map(queued, (1, 2, 3)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(2, state=State.CANCELLED, finished_at=NOW, waiting=None)
    at.change(1, **ENDED)
    at.ring(1)
    assert "waits_at" in at.slots()
    assert at.ring(3) == Send()
    assert (at.sent, at.held()) == ([1, 3], {3: 1})


def test_a_newcomer_calls_nobody_and_is_stopped_by_nobodys_queue() -> None:
    """It may come between another's message and its mark, and once more for each of a hundred newcomers."""
    left = list(range(10, 18))

    class Busy(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            if doorbell.job_id == an_id(2) and left:
                at.ring(left.pop())

    at = line(*map(queued, (1, 2, *range(10, 18))), cap=20)
    at.ring(1)
    at.change(2, waiting=ACME, waits_since=NOW)
    at.slots()["waits_at"] = milliseconds(NOW)
    at.queues.__class__ = Busy
    at.look_after()
    assert at.sent.count(2) == 1
