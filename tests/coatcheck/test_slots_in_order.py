"""Slots in order: who waits comes before whoever comes in just when a slot gets free, and newcomers call nobody."""

from coatcheck.doorbell import Doorbell
from coatcheck.job import State
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.next_step import Send, StandInLine
from coatcheck.row import Row, milliseconds
from coatcheck.slots import CALLED_WITHIN, free, slots_key
from coatcheck.write import Write
from tests.coatcheck.lines import ACME, Line, an_id, line, queued
from tests.coatcheck.rows import NOW, seconds

ENDED = {"state": State.SUCCEEDED, "finished_at": NOW}


def freed(at: Line, number: int, limiter: str = ACME) -> None:
    """The job has ended and its slot is free; whoever freed it has not called anybody yet."""
    at.change(number, **ENDED)
    free(at.store, limiter, at.job(number), NOW)


def test_a_newcomer_leaves_a_slot_that_is_free_just_then_to_those_who_wait() -> None:
    at = line(*map(queued, range(1, 6)))
    for number in (1, 2, 3, 4):
        at.ring(number)
    freed(at, 1)
    assert at.ring(5) == StandInLine(limiter=ACME)
    at.ring(1)
    assert (at.sent, at.held()) == ([1, 2, 3], {2: 1, 3: 1})


def test_a_slot_that_gets_free_while_a_newcomer_is_marked_goes_to_whoever_has_waited_longest() -> None:
    class FreedAtTheMark(MemoryStore):
        def write(self, write: Write) -> Row:
            row = super().write(write)
            if write.key == queued(4).key and row.get("waiting") == ACME:
                freed(at, 1)
            return row

    at = line(*map(queued, range(1, 5)), cap=1)
    for number in (1, 2, 3):
        at.ring(number)
    at.store.__class__ = FreedAtTheMark
    at.ring(4)
    at.ring(1)
    assert at.sent == [1, 2]


def test_a_newcomer_waits_for_nobody_who_is_not_called_within_seconds() -> None:
    """Whoever freed the slot died, or whoever waits cannot be sent: it is rung again and takes what is free."""
    at = line(*map(queued, range(1, 5)), cap=1)
    for number in (1, 2):
        at.ring(number)
    freed(at, 1)
    assert at.ring(3) == StandInLine(limiter=ACME)
    assert at.queues.woken == [(an_id(3), 2 * CALLED_WITHIN)]
    assert at.ring(3, NOW + 2 * CALLED_WITHIN) == Send()


def test_a_newcomer_takes_what_has_been_free_for_seconds_whoever_waits() -> None:
    at = line(*map(queued, range(1, 4)), cap=1)
    for number in (1, 2):
        at.ring(number)
    freed(at, 1)
    assert at.ring(3, NOW + CALLED_WITHIN + seconds(1)) == Send()


def test_a_newcomer_takes_one_of_several_that_are_free_whoever_waits() -> None:
    """Those who wait are stuck: they would have had one."""
    at = line(*map(queued, range(1, 5)))
    for number in (1, 2, 3):
        at.ring(number)
    for number in (1, 2):
        freed(at, number)
    assert at.ring(4) == Send()


def test_a_newcomer_stands_behind_those_who_wait_for_any_of_its_limiters() -> None:
    jobs = (queued(1, tenant="bazaar"), queued(3, tenant="coast"), queued(4))
    at = line(*jobs, cap=1, kinds={"probe": 1})
    at.ring(1)
    at.ring(3)
    noted = milliseconds(NOW)
    at.store.rows[slots_key(ACME)] = {"held": {}, "waits_at": noted, "freed_at": noted, "due": noted}
    freed(at, 1, "kind#probe")
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
    assert {"waits_at", "freed_at"} <= at.slots().keys()
    assert at.ring(3) == Send()
    assert (at.sent, at.held()) == ([1, 3], {3: 1})


def test_a_newcomer_calls_nobody_itself() -> None:
    """It may come between another's message and its mark, and so may a hundred of them."""
    left = list(range(10, 18))

    class Busy(MemoryQueues):
        def ring(self, lane: str, doorbell: Doorbell) -> None:
            super().ring(lane, doorbell)
            if doorbell.job_id == an_id(2) and left:
                at.ring(left.pop())

    at = line(*map(queued, (1, 2, *range(10, 18))), cap=3)
    at.ring(1)
    at.change(2, waiting=ACME, waits_since=NOW)
    at.slots().update(waits_at=milliseconds(NOW), freed_at=milliseconds(NOW))
    at.queues.__class__ = Busy
    at.look_after()
    assert at.sent.count(2) == 1
