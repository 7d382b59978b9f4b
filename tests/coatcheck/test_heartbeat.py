"""The heartbeat: it goes on through faults, renews the row before the message, and is over when it was stopped."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread

import pytest

from coatcheck.doorbell import Message
from coatcheck.job import Job, Progress, Reason, State
from coatcheck.memory import MemoryMessage
from coatcheck.run.clock import Clock
from coatcheck.run.heartbeat import Heartbeat
from coatcheck.store import Store, Unavailable
from coatcheck.takeover import take_over
from tests.coatcheck.attempts import Attempt, Kennel, QuietLog
from tests.coatcheck.clock import PATIENCE_SECONDS, HandTurnedClock, VirtualClock, eventually
from tests.coatcheck.faults import FailingStore, losing
from tests.coatcheck.rows import NOW, TIMINGS, an_owned_job, seconds, stored

HARD_STOP = NOW + timedelta(minutes=14)


class Beating:
    """An attempt and its heartbeat, with whatever of it a test replaces."""

    def __init__(
        self,
        *,
        clock: VirtualClock | HandTurnedClock | None = None,
        message: Message | None = None,
        store: Callable[[Store], Store] = lambda store: store,
        job: Job | None = None,
        through: Callable[[Store], Store] = lambda store: store,
    ) -> None:
        job = job or an_owned_job()
        self.attempt = Attempt(job=job, store=(table := stored(job)), through=through(table))
        self.clock: Clock = clock or self.attempt.clock
        self.message = message or MemoryMessage()
        self.watchdog = Kennel()
        self.log = QuietLog()
        self.ended: list[str] = []
        self.heartbeat = Heartbeat(
            lease=self.attempt.lease,
            store=store(self.attempt.store),
            message=self.message,
            watchdog=self.watchdog,
            clock=self.clock,
            timings=TIMINGS,
            hard_stop_at=HARD_STOP,
            end_process=lambda: self.ended.append("ended"),
            log=self.log,
        )


class BrokenMessage:
    def hide(self, span: timedelta) -> None:
        raise Unavailable(f"ReadTimeoutError after {span}")


def test_a_beat_renews_the_row_first_then_the_message_for_a_little_longer_than_the_lease() -> None:
    seen: list[object] = []

    class Watching(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            super().hide(span)
            seen.append(beating.attempt.row.lease_until)

    beating = Beating(message=(message := Watching()))
    beating.attempt.clock.advance(30)
    assert beating.heartbeat.beat() == TIMINGS.beat
    assert seen == [NOW + seconds(30) + TIMINGS.lease]
    assert message.hidden == [TIMINGS.lease + TIMINGS.message_margin]
    assert beating.watchdog.armed == [TIMINGS.lease]


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_beat_that_fails_is_tried_again_soon_and_the_beats_go_on(lost: str) -> None:
    beating = Beating(store=lambda store: losing(store, lost, 2))
    waits = [beating.heartbeat.beat() for _ in range(4)]
    assert waits == [TIMINGS.beat_retry, TIMINGS.beat_retry, TIMINGS.beat, TIMINGS.beat]
    assert beating.attempt.row.owner == "owner-1"
    assert beating.watchdog.armed == [TIMINGS.lease] * 2


def test_a_message_that_cannot_be_hidden_does_not_end_the_lease() -> None:
    beating = Beating(message=BrokenMessage())
    assert beating.heartbeat.beat() == TIMINGS.beat
    assert beating.attempt.row.lease_until == NOW + TIMINGS.lease


def test_a_lost_lease_stops_the_job_and_leaves_the_message_and_the_watchdog_alone() -> None:
    beating = Beating(message=(message := MemoryMessage()))
    beating.attempt.clock.advance(61)
    take_over(beating.attempt.store, beating.attempt.row, beating.clock.now(), TIMINGS)
    beating.heartbeat.beat()
    assert beating.attempt.lease.stopping()
    assert (message.hidden, beating.watchdog.armed, beating.ended) == ([], [], [])


@pytest.mark.parametrize("fails", [0, 10**6])
def test_no_wait_for_a_beat_goes_beyond_the_moment_of_the_hard_stop(fails: int) -> None:
    beating = Beating(store=lambda store: FailingStore(under=store, before=fails))
    beating.attempt.clock.time = HARD_STOP - seconds(1)
    assert beating.heartbeat.beat() == seconds(1)


def test_an_attempt_that_comes_to_no_checkpoint_is_settled_as_a_failure_and_its_process_ended() -> None:
    beating = Beating()
    beating.attempt.clock.time = HARD_STOP
    beating.attempt.lease.report(Progress(done=1))
    beating.heartbeat.beat()
    assert beating.ended == ["ended"]
    row = beating.attempt.row
    assert (row.state, row.failures) == (State.RETRYING, 1)
    assert row.error is not None
    assert row.error.type == Reason.OUT_OF_TIME


def test_the_process_ends_at_the_hard_stop_even_if_the_job_is_somebody_elses_by_now() -> None:
    beating = Beating()
    beating.attempt.clock.time = HARD_STOP
    taken = take_over(beating.attempt.store, beating.attempt.row, HARD_STOP, TIMINGS)
    beating.heartbeat.beat()
    assert beating.ended == ["ended"]
    assert beating.attempt.row == taken


def test_the_thread_beats_at_each_period_until_it_is_stopped() -> None:
    clock = HandTurnedClock()
    beating = Beating(clock=clock, message=(message := MemoryMessage()))
    beating.heartbeat.start()
    for beats in (1, 2, 3):
        clock.advance(TIMINGS.beat.total_seconds())
        eventually(lambda beats=beats: len(message.hidden) == beats, f"the heart beats {beats} times")  # type: ignore[misc]
    beating.heartbeat.stop()
    assert len(message.hidden) == 3


def test_a_beat_that_is_on_its_way_has_arrived_when_the_heartbeat_was_stopped() -> None:
    on_its_way, answer = Event(), Event()

    class SlowMessage(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            on_its_way.set()
            assert answer.wait(PATIENCE_SECONDS)
            super().hide(span)

    clock = HandTurnedClock()
    beating = Beating(clock=clock, message=(message := SlowMessage()))
    beating.heartbeat.start()
    clock.advance(TIMINGS.beat.total_seconds())
    assert on_its_way.wait(PATIENCE_SECONDS)
    stopper = Thread(target=beating.heartbeat.stop)
    stopper.start()
    stopper.join(0.05)
    assert stopper.is_alive()
    answer.set()
    stopper.join(PATIENCE_SECONDS)
    assert not stopper.is_alive()
    assert len(message.hidden) == 1


def test_stopping_does_not_wait_for_the_next_beat() -> None:
    beating = Beating(clock=HandTurnedClock(), message=(message := MemoryMessage()))
    beating.heartbeat.start()
    beating.heartbeat.stop()
    assert message.hidden == []


@pytest.mark.parametrize(
    ("job", "after", "state", "reason"),
    [
        pytest.param(an_owned_job(timeout=seconds(100)), 40, State.FAILED, Reason.TIMED_OUT, id="over its timeout"),
        pytest.param(an_owned_job(), TIMINGS.stall.total_seconds(), State.RETRYING, Reason.STALLED, id="stalled"),
        pytest.param(
            an_owned_job(created_at=NOW - TIMINGS.give_up_after + seconds(9)), 9, State.FAILED, Reason.GAVE_UP, id="old"
        ),
        pytest.param(an_owned_job(state=State.CANCELLING), 0, State.CANCELLED, "cancelled", id="cancelled"),
    ],
)  # fmt: skip
def test_a_handler_that_does_not_answer_is_settled_first_and_then_its_process_ends(
    job: Job, after: float, state: State, reason: str
) -> None:
    beating = Beating(job=job)
    beating.attempt.clock.advance(after)
    wait = beating.heartbeat.beat()
    assert (beating.ended, wait) == ([], min(TIMINGS.beat, TIMINGS.answer_within))
    assert beating.attempt.lease.stopping()
    beating.attempt.clock.advance(TIMINGS.answer_within.total_seconds())
    beating.heartbeat.beat()
    row = beating.attempt.row
    assert row.error is not None
    assert (row.state, row.error.type, beating.ended) == (state, reason, ["ended"])


def test_the_next_beat_comes_no_later_than_the_limit() -> None:
    beating = Beating(job=an_owned_job(timeout=seconds(63)))
    assert beating.heartbeat.beat() == seconds(3)


def test_a_handler_that_does_not_answer_is_ended_even_if_the_service_does_not_answer_either() -> None:
    beating = Beating(
        job=an_owned_job(timeout=seconds(61)), through=lambda store: FailingStore(under=store, before=10**6)
    )
    beating.attempt.clock.advance(1 + TIMINGS.answer_within.total_seconds())
    beating.heartbeat.beat()
    beating.attempt.clock.advance(TIMINGS.answer_within.total_seconds())
    beating.heartbeat.beat()
    assert beating.ended == ["ended"]
    assert beating.attempt.row.state is State.RUNNING  # its lease expires
