"""Heartbeats that are slow, fail or come late, seen from the worker: its job neither suffers nor is hurried."""

from datetime import timedelta
from threading import Event

import pytest

from coatcheck import JobContext
from coatcheck.claim import Claimed, claim
from coatcheck.job import State
from coatcheck.memory import MemoryMessage, MemoryQueues, MemoryStore
from coatcheck.next_step import Requeue, Waiting
from coatcheck.ring import ring
from coatcheck.row import Row
from coatcheck.store import Refused, Unavailable
from coatcheck.takeover import take_over
from coatcheck.write import Write
from tests.coatcheck.clock import PATIENCE_SECONDS, eventually
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import JOB_ID, TIMINGS, a_bell, a_job, doorbell, seconds
from tests.coatcheck.scripts import Args
from tests.coatcheck.shift import Shift

pytestmark = pytest.mark.usefixtures("kinds")


class Remembering(FailingStore):
    """Remembers the last beat, which may then arrive a second time, late."""

    last: Write | None = None

    def write(self, write: Write) -> Row:
        self.last = write
        return super().write(write)


def test_a_beat_that_is_still_on_its_way_cannot_shorten_the_wait_for_the_next_attempt() -> None:
    on_its_way, answer = Event(), Event()

    class SlowMessage(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            if self.hidden:
                on_its_way.set()
                assert answer.wait(PATIENCE_SECONDS)
            super().hide(span)

    def play(ctx: JobContext, args: Args) -> None:
        shift.clock.advance(TIMINGS.beat.total_seconds())
        assert on_its_way.wait(PATIENCE_SECONDS)
        answer.set()
        raise ConnectionError

    beats = Remembering(under=(store := MemoryStore()))
    job = a_job(kind="script", attempt=3, failures=2)
    shift = Shift(job=job, store=store, beats=SlowMessage(), beats_through=lambda _: beats)
    assert shift.works(play)
    failed, now = shift.row, shift.clock.now()
    assert (failed.state, failed.attempt, failed.retry_at) == (State.RETRYING, 4, now + timedelta(minutes=8))
    assert beats.last is not None
    with pytest.raises(Refused):
        store.write(beats.last)
    assert (shift.row, len(shift.beats.hidden)) == (failed, 2)
    bell = a_bell(shift.store, MemoryQueues())
    ring(bell, JOB_ID, now)
    for minutes in (2, 7.9):
        assert isinstance(ring(bell, JOB_ID, now + timedelta(minutes=minutes)), Waiting)
    assert ring(bell, JOB_ID, now + timedelta(minutes=8)) == Requeue()


def five_minutes(shift: Shift, beats: list[float], heard: list[str]) -> None:
    """Let the time pass from beat to beat; the lease never ends meanwhile."""
    for number, after in enumerate(beats, 1):
        shift.clock.advance(after)
        eventually(lambda number=number: len(heard) >= number, f"beat {number} comes")  # type: ignore[misc]
        lease_until = shift.row.lease_until
        assert lease_until is not None
        assert lease_until > shift.clock.now()


def test_a_beat_that_hangs_and_fails_does_not_stop_the_later_ones() -> None:
    heard: list[str] = []

    class HangsOnce(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            super().hide(span)
            if len(self.hidden) == 2:
                shift.clock.advance_alone(25)
                heard.append("in vain")
                raise Unavailable("ReadTimeoutError")
            if len(self.hidden) > 2:
                heard.append("beat")

    shift = Shift(beats=HangsOnce())
    assert shift.works(lambda _, __: five_minutes(shift, [30.0] * 10, heard))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.SUCCEEDED, 1, 0)
    assert heard == ["in vain"] + ["beat"] * 9


def test_beats_that_are_throttled_are_repeated_soon_and_go_on_to_the_end() -> None:
    heard: list[str] = []

    class ThrottledTwice(FailingStore):
        def write(self, write: Write) -> Row:
            heard.append("beat")
            if len(heard) <= 2:
                raise Unavailable("ThrottlingException")
            return super().write(write)

    shift = Shift(beats_through=lambda store: ThrottledTwice(under=store))
    soon = TIMINGS.beat_retry.total_seconds()
    assert shift.works(lambda _, __: five_minutes(shift, [30, soon, soon, *[30.0] * 9], heard))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.SUCCEEDED, 1, 0)


def test_the_slow_clean_up_of_a_failed_attempt_leaves_the_next_owner_its_lease() -> None:
    second: list[Claimed] = []

    def play(ctx: JobContext, args: Args) -> None:
        try:
            raise ConnectionError
        finally:  # its clean-up takes so long that the lease ends, and somebody else goes on
            shift.clock.advance_alone(TIMINGS.lease.total_seconds() + 20)
            assert take_over(shift.store, shift.row, shift.clock.now(), TIMINGS) is not None
            claimed = claim(shift.store, doorbell(shift.row), "owner-2", shift.clock.now(), TIMINGS)
            assert isinstance(claimed, Claimed)
            second.append(claimed)

    shift = Shift(beats_through=lambda store: FailingStore(under=store, before=10**6))
    assert shift.works(play)
    assert shift.row == second[0].job
    assert (shift.row.owner, shift.row.attempt, shift.row.failures) == ("owner-2", 2, 1)
    assert take_over(shift.store, shift.row, shift.clock.now() + seconds(1), TIMINGS) is None
