"""Thousands who wait for a few slots: each costs few calls, and nobody is overlooked for it."""

from coatcheck.job import State
from coatcheck.memory import MemoryStore
from coatcheck.ring import MOST_LOOKED_AT
from coatcheck.row import Row, milliseconds
from coatcheck.slots import LOOK_AGAIN, NOTED, slots_key
from coatcheck.store import IndexPage
from coatcheck.write import Key, Update, Write
from tests.coatcheck.lines import ACME, Line, line, queued
from tests.coatcheck.rows import NOW, TIMINGS


def watched(at: Line) -> list[Key]:
    """The rows of jobs that are read from now on."""
    read: list[Key] = []

    class Watched(type(at.store)):  # type: ignore[misc]  # whatever class it has by now
        def get(self, key: Key) -> Row | None:
            if key.item == "job":
                read.append(key)
            found: Row | None = super().get(key)
            return found

    at.store.__class__ = Watched
    return read


def test_that_somebody_waits_is_written_once_for_all_who_wait_within_seconds() -> None:
    notes: list[Write] = []

    class Counting(MemoryStore):
        def write(self, write: Write) -> Row:
            if isinstance(write, Update) and "waits_at" in write.set:
                notes.append(write)
            return super().write(write)

    at = line(*map(queued, range(1, 9)), cap=1)
    at.store.__class__ = Counting
    for number in range(1, 8):
        at.ring(number)
    assert len(notes) == 1
    at.ring(8, NOW + NOTED)
    assert at.slots()["waits_at"] == milliseconds(NOW + NOTED)


def test_who_waits_right_after_the_supervisor_has_looked_is_looked_after_soon() -> None:
    class LooksMeanwhile(MemoryStore):
        def write(self, write: Write) -> Row:
            if isinstance(write, Update) and "waiting" in write.set:
                self.rows[slots_key(ACME)]["due"] = milliseconds(NOW + TIMINGS.due_grace)
            return super().write(write)

    at = line(*map(queued, (1, 2, 3)), cap=1)
    at.ring(1)
    at.ring(2)
    at.store.__class__ = LooksMeanwhile
    at.ring(3)
    assert at.due() == NOW + LOOK_AGAIN


def test_a_walk_reads_no_more_of_who_waits_than_slots_are_free() -> None:
    at = line(*map(queued, range(1, 9)), cap=2)
    for number in range(1, 9):
        at.ring(number)
    at.change(1, state=State.SUCCEEDED, finished_at=NOW)
    read = watched(at)
    at.ring(1)
    assert (read, at.sent) == ([queued(1).key, queued(3).key], [1, 2, 3])


def test_the_supervisor_fills_all_the_slots_that_it_frees() -> None:
    at = line(*map(queued, range(1, 6)), cap=2)
    for number in range(1, 6):
        at.ring(number)
    for number in (1, 2):
        at.change(number, state=State.SUCCEEDED, finished_at=NOW)
    at.look_after()
    assert (at.sent, at.held()) == ([1, 2, 3, 4], {3: 1, 4: 1})


def test_a_walk_does_not_read_all_of_a_line_that_was_cancelled_at_once() -> None:
    """The index shows them for a while."""

    class Lagging(MemoryStore):
        def waiting(self, limiter: str, start: str | None = None) -> IndexPage:  # noqa: ARG002  # the port's signature
            return IndexPage(ids=tuple(queued(number).id for number in range(2, 1_000)), next=None)

    at = line(*map(queued, range(1, 1_001)), cap=1)
    at.ring(1)
    for number in range(2, 1_001):
        at.change(number, state=State.CANCELLED, finished_at=NOW)
    at.slots()["waits_at"] = milliseconds(NOW)
    at.change(1, state=State.SUCCEEDED, finished_at=NOW)
    at.store.__class__ = Lagging
    read = watched(at)
    at.ring(1)
    assert len(read) == 1 + MOST_LOOKED_AT
