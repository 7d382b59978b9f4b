"""Slots under the supervisor's eyes: what was left half is made up for, and nobody who waits is forgotten."""

from collections.abc import Sequence

import pytest

from coatcheck.job import State
from coatcheck.memory import MemoryStore
from coatcheck.next_step import Conclude, StepAside
from coatcheck.pause import pause
from coatcheck.row import Row, milliseconds
from coatcheck.run.known_limits import LOOK_UP_EVERY
from coatcheck.slots import LOOK_AGAIN, slots_key
from coatcheck.store import IndexPage, Unavailable
from coatcheck.supervisor import FORGET_AFTER
from coatcheck.write import Key, Update, Write
from tests.coatcheck.holds import FIRST, MARK, PROBE
from tests.coatcheck.lines import ACME, an_id, line, queued
from tests.coatcheck.rows import NOW, TIMINGS, seconds

LATER = NOW + seconds(1)
ENDED = {"state": State.SUCCEEDED, "finished_at": NOW}


def test_a_lost_wake_up_is_made_up_for_by_the_supervisor() -> None:
    """The slot was freed between the mark and its place in the index: whoever freed it found nobody."""
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(1, **ENDED)
    mark = {name: at.store.rows[queued(2).key].pop(name) for name in ("waiting", "waits_since")}
    at.ring(1)
    assert at.sent == [1]
    at.store.rows[queued(2).key] |= mark
    assert at.supervise(NOW + LOOK_AGAIN)["LookAfter"] == 1
    assert (at.sent, at.held()) == ([1, 2], {2: 1})


def test_who_holds_a_slot_and_waits_for_nothing_is_sent_by_the_supervisor() -> None:
    at = line(queued(1), cap=1)
    at.ring(1)
    at.change(1, sent=0)
    at.look_after()
    assert at.sent == [1, 1]


@pytest.mark.parametrize(
    "changes",
    [
        ENDED,
        {"state": State.RETRYING, "attempt": 2, "retry_at": NOW + seconds(30)},
        {"attempt": 2, "run_at": NOW + seconds(30)},
        {"attempt": 2, "waiting": "pause#kind#probe", "waits_since": NOW},
        {"state": State.RUNNING, "attempt": 2, "owner": "w"},
    ],
)
def test_the_supervisor_frees_what_nobody_has_a_right_to(changes: dict[str, object]) -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(1, **changes)
    at.look_after()
    assert (at.held(), at.sent) == ({2: 1}, [1, 2])


def test_a_slot_of_a_job_that_is_gone_is_freed() -> None:
    at = line(queued(1), cap=1)
    at.ring(1)
    del at.store.rows[queued(1).key]
    at.look_after()
    assert at.held() == {}


def test_a_take_that_lands_after_its_job_has_ended_is_found_although_nobody_waits() -> None:
    at = line(queued(1), cap=1)
    at.ring(1)
    at.change(1, **ENDED)
    at.ring(1)
    at.slots()["held"] = {an_id(1): 1}  # a packet that was on its way
    due = at.due()
    assert due is not None
    assert at.supervise(due)["LookAfter"] == 1
    assert at.held() == {}


def test_slots_that_nobody_holds_or_wants_are_due_no_more() -> None:
    at = line(queued(1), cap=1)
    at.ring(1)
    at.change(1, **ENDED)
    at.ring(1)
    at.look_after(LATER)
    assert at.due() is None
    at.change(1, state=State.QUEUED, sent=0, attempt=2)
    at.ring(1, LATER)
    assert at.due() == LATER + TIMINGS.due_grace


def test_it_is_forgotten_that_somebody_waits_only_when_nobody_was_found_for_long_enough() -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(2, state=State.CANCELLED, finished_at=NOW, waiting=None, waits_since=None)
    at.look_after(NOW + FORGET_AFTER - seconds(1))
    assert "waits_at" in at.slots()
    at.look_after(NOW + FORGET_AFTER)
    assert "waits_at" not in at.slots()
    assert at.due() == NOW + FORGET_AFTER + TIMINGS.due_grace  # the first is still in flight


def test_who_waits_meanwhile_is_not_forgotten() -> None:
    class WaitsMeanwhile(MemoryStore):
        def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
            page = super().waiting(limiter, start)
            self.rows[slots_key(ACME)]["waits_at"] = 1
            return page

    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(2, state=State.CANCELLED, finished_at=NOW, waiting=None, waits_since=None)
    at.store.__class__ = WaitsMeanwhile
    at.look_after(NOW + FORGET_AFTER)
    assert at.slots()["waits_at"] == 1


def test_a_cap_that_was_raised_lets_more_run_and_one_that_was_lowered_fewer() -> None:
    at = line(*map(queued, range(1, 7)), cap=1)
    for number in range(1, 7):
        at.ring(number)
    at.set_caps("acme", interactive=3)
    at.look_after(NOW + LOOK_UP_EVERY)
    assert at.sent == [1, 2, 3]
    at.set_caps("acme", interactive=2)
    at.change(1, **ENDED)
    at.ring(1, NOW + 2 * LOOK_UP_EVERY)
    assert at.sent == [1, 2, 3]
    at.change(2, **ENDED)
    at.ring(2, NOW + 2 * LOOK_UP_EVERY)
    assert (at.sent, at.held()) == ([1, 2, 3, 4], {3: 1, 4: 1})


def test_a_slot_that_is_taken_while_the_supervisor_looks_stays_due() -> None:
    class TakenMeanwhile(MemoryStore):
        def get(self, key: Key) -> Row | None:
            row = super().get(key)
            if key == slots_key(ACME):
                self.rows[key]["held"] = {an_id(2): 1}
            return row

    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.change(1, **ENDED)
    at.ring(1)
    at.store.__class__ = TakenMeanwhile
    at.look_after(LATER)
    assert at.held() == {2: 1}
    assert at.due() is not None


def test_a_job_that_is_due_by_its_senders_clock_keeps_the_slot_of_the_number_that_it_owes() -> None:
    """The supervisor's clock is behind: for it the job is not due, and its entry would be freed under its sender."""
    at = line(queued(1, run_at=NOW - seconds(1)), cap=1)
    at.ring(1)
    at.change(1, sent=0)  # its sender is between the doorbell and the mark
    at.look_after(NOW - seconds(2))
    assert at.held() == {1: 1}


def test_a_paused_job_that_was_about_to_be_sent_owes_its_next_number_and_then_its_slot_is_free() -> None:
    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    pause(at.store, PROBE, FIRST)
    at.change(1, sent=0, **MARK)
    at.look_after()
    assert (at.job(1).attempt, at.held()) == (2, {1: 1})
    assert at.ring(1) == StepAside()
    assert at.held() == {}


def test_a_job_that_is_resumed_and_sent_while_the_supervisor_looks_keeps_its_slot() -> None:
    class ResumedMeanwhile(MemoryStore):
        def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
            rows = super().get_many(keys)
            at.change(1, waiting=None, waits_since=None, paused_by=None)
            at.ring(1)
            return rows

    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.ring(2)
    at.change(1, sent=0, **MARK)
    at.store.__class__ = ResumedMeanwhile
    at.look_after()
    assert (at.held(), at.job(2).sent) == ({1: 1}, 0)


def test_a_note_that_comes_late_does_not_make_it_look_as_if_nobody_had_waited_for_long() -> None:
    at = line(*map(queued, (1, 2, 3)), cap=1)
    at.ring(1)
    at.ring(2, LATER)
    at.ring(3, NOW)  # its note was on its way for longer
    assert at.slots()["waits_at"] == milliseconds(LATER)


def test_a_note_that_lands_when_the_slots_are_done_with_makes_them_due_again() -> None:
    class DoneWithMeanwhile(MemoryStore):
        def write(self, write: Write) -> Row:
            if isinstance(write, Update) and write.set.keys() == {"waits_at"}:
                self.rows[write.key].pop("due", None)
            if isinstance(write, Update) and write.set.keys() == {"due"}:
                raise Unavailable("killed")
            return super().write(write)

    at = line(*map(queued, (1, 2)), cap=1)
    at.ring(1)
    at.slots()["due"] = milliseconds(NOW)  # sooner than whoever waits asks for
    at.store.__class__ = DoneWithMeanwhile
    with pytest.raises(Unavailable, match="killed"):
        at.ring(2)
    assert at.due() == NOW + LOOK_AGAIN


def test_a_row_that_this_version_cannot_read_stops_no_walk_and_loses_no_slot() -> None:
    at = line(*map(queued, (1, 2, 3, 4)), cap=2)
    for number in (1, 2, 3, 4):
        at.ring(number)
    for number in (2, 3):
        at.change(number, state="of a later version")
    at.change(1, **ENDED)
    assert at.ring(1) == Conclude()
    assert (at.sent, at.held()) == ([1, 2, 4], {2: 1, 4: 1})
    at.look_after()
    assert at.held() == {2: 1, 4: 1}
