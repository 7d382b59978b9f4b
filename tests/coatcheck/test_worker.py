"""A worker: from a doorbell to a settled attempt."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

import pytest

from coatcheck import JobContext, Permanent, Result, Snooze
from coatcheck.doorbell import Doorbell
from coatcheck.job import Job, Reason, State, args_key, row_of
from coatcheck.memory import MemoryMessage, MemoryObjects, MemoryStore
from coatcheck.row import Row
from coatcheck.run.worker import Delivery, Desk, work
from coatcheck.store import Store, Unavailable
from coatcheck.takeover import take_over
from coatcheck.write import Write
from tests.coatcheck.attempts import Kennel, QuietLog
from tests.coatcheck.clock import HandTurnedClock, eventually
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, doorbell, job_in, seconds
from tests.coatcheck.scripts import Args, Hopeless, Play, playing

pytestmark = pytest.mark.usefixtures("kinds")


@dataclass(kw_only=True)
class Shift:
    """A worker at its desk, and the one job that it is about."""

    job: Job = field(default_factory=lambda: a_job(kind="script"))
    through: Callable[[MemoryStore], Store] = lambda store: store
    store: MemoryStore = field(default_factory=MemoryStore)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    clock: HandTurnedClock = field(default_factory=HandTurnedClock)
    watchdog: Kennel = field(default_factory=Kennel)
    message: MemoryMessage = field(default_factory=MemoryMessage)
    beats: MemoryMessage = field(default_factory=MemoryMessage)
    log: QuietLog = field(default_factory=QuietLog)
    tokens: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**6)))

    def __post_init__(self) -> None:
        self.store.rows.setdefault(self.job.key, row_of(self.job))

    def works(self, play: Play = lambda _, __: None, *, bell: Doorbell | None = None, receives: int = 1) -> bool:
        desk = Desk(
            store=self.through(self.store),
            beat_store=self.store,
            objects=self.objects,
            source=lambda: pytest.fail("no test here reads a source"),
            timings=TIMINGS,
            clock=self.clock,
            watchdog=self.watchdog,
            token=lambda: f"token-{next(self.tokens)}",
            chance=lambda: 0.5,
            end_process=lambda: None,
            log=self.log,
        )
        delivery = Delivery(
            doorbell=bell or doorbell(self.row),
            message=self.message,
            beat_message=self.beats,
            receives=receives,
            deadline=self.clock.now() + timedelta(minutes=15),
        )
        with playing(play):
            return work(desk, delivery)

    @property
    def row(self) -> Job:
        return job_in(self.store, self.job.id)


def failing(error: Exception) -> Play:
    def play(ctx: JobContext, args: Args) -> Result:
        raise error

    return play


def test_a_job_runs_and_its_result_is_settled_and_the_message_is_done() -> None:
    shift = Shift(job=a_job(kind="script", args='{"text":"abc"}'))
    assert shift.works(lambda ctx, args: Result(rows=len(args.text) if ctx.attempt == 1 else None))
    assert shift.row.state is State.SUCCEEDED
    assert shift.row.result is not None
    assert shift.row.result.rows == 3


def test_the_message_is_hidden_and_the_watchdog_let_loose_for_the_lease_and_called_back_at_the_end() -> None:
    shift = Shift()
    shift.works()
    assert shift.beats.hidden == [TIMINGS.lease + TIMINGS.message_margin]
    assert (shift.watchdog.armed, shift.watchdog.cancelled) == ([TIMINGS.lease], 1)


def test_the_heartbeat_is_over_when_the_outcome_is_written() -> None:
    beating, answer, order = Event(), Event(), []

    class SlowMessage(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            if self.hidden:
                beating.set()
                assert answer.wait(10)
                order.append("beat")
            super().hide(span)

    class Watching(FailingStore):
        def write(self, write: Write) -> Row:
            if "finished_at" in getattr(write, "set", {}):
                order.append("settle")
            return super().write(write)

    def play(ctx: JobContext, args: Args) -> None:
        shift.clock.advance(30)
        assert beating.wait(10)
        answer.set()

    shift = Shift(beats=SlowMessage(), through=lambda store: Watching(under=store))
    assert shift.works(play)
    assert order == ["beat", "settle"]


def test_a_long_handler_keeps_its_lease_while_its_heart_beats() -> None:
    def play(ctx: JobContext, args: Args) -> None:
        for beats in range(2, 12):
            shift.clock.advance(30)
            eventually(lambda least=beats: len(shift.beats.hidden) >= least, "the heart beats")  # type: ignore[misc]

    shift = Shift()
    assert shift.works(play)
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.SUCCEEDED, 1, 0)


def test_a_transient_error_waits_for_a_retry_with_its_text() -> None:
    shift = Shift()
    assert shift.works(failing(RuntimeError("the portal is closed")))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.RETRYING, 2, 1)
    assert shift.row.error is not None
    assert (shift.row.error.type, shift.row.error.message) == ("RuntimeError", "the portal is closed")
    assert shift.row.retry_at == NOW + TIMINGS.retry_delays[0]


@pytest.mark.parametrize("error", [Permanent("no such seller"), Hopeless("no such seller")])
def test_what_the_kind_gives_up_on_fails_at_once(error: Exception) -> None:
    shift = Shift()
    assert shift.works(failing(error))
    assert (shift.row.state, shift.row.failures) == (State.FAILED, 1)
    assert shift.row.error is not None
    assert not shift.row.error.retryable


def test_a_snooze_is_no_failure() -> None:
    shift = Shift()
    assert shift.works(failing(Snooze(timedelta(minutes=1))))
    assert (shift.row.state, shift.row.failures, shift.row.run_at) == (State.QUEUED, 0, NOW + seconds(60))


def test_a_checkpoint_near_the_functions_end_yields_and_the_next_attempt_goes_on_from_there() -> None:
    def play(ctx: JobContext, args: Args) -> Result:
        done: list[int] = ctx.resume([])
        while len(done) < 4:
            done = [*done, ctx.attempt]
            if len(done) == 2:
                shift.clock.advance(14 * 60)
            ctx.checkpoint(done)
        return Result(rows=int("".join(map(str, done))))

    shift = Shift()
    assert shift.works(play)
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.QUEUED, 2, 0)
    started_at = shift.row.started_at
    assert shift.works(play)
    assert shift.row.state is State.SUCCEEDED
    assert shift.row.result is not None
    assert (shift.row.result.rows, shift.row.started_at) == (1122, started_at)


def test_a_large_cursor_comes_back_to_the_next_attempt() -> None:
    def play(ctx: JobContext, args: Args) -> Result:
        parts = ctx.resume("")
        if parts:
            return Result(rows=len(parts))
        ctx.checkpoint("x" * 5000)
        raise ConnectionError

    shift = Shift()
    shift.works(play)
    shift.clock.advance_alone(60)
    shift.store.rows[shift.job.key]["state"] = "queued"
    shift.works(play)
    assert shift.row.result is not None
    assert shift.row.result.rows == 5000


def test_a_cursor_that_is_gone_is_an_ordinary_failure() -> None:
    shift = Shift(job=a_job(kind="script", attempt=2, cursor_key="cursors/acme/gone"))
    assert shift.works()
    assert shift.row.error is not None
    assert (shift.row.state, shift.row.error.type) == (State.RETRYING, "Missing")


def test_large_args_come_from_beside_the_row() -> None:
    job = a_job(kind="script", args=None)
    shift = Shift(job=job, store=MemoryStore(rows={args_key(job.id): {"args": '{"text":"beside"}', "ttl": 1}}))
    shift.works(lambda _, args: Result(rows=len(args.text)))
    assert shift.row.result is not None
    assert shift.row.result.rows == 6


def test_args_that_no_longer_fit_the_kind_fail_at_once_and_are_no_crash_loop() -> None:
    shift = Shift(job=a_job(kind="script", args='{"text":7}'))
    assert shift.works()
    assert (shift.row.state, shift.row.failures) == (State.FAILED, 1)
    assert shift.row.error is not None
    assert (shift.row.error.type, shift.row.error.message) == ("InvalidArgs", "/args/text: Expected `str`, got `int`")


def test_a_stale_doorbell_is_done_and_nothing_is_charged() -> None:
    shift = Shift(job=a_job(kind="script", attempt=3))
    before = shift.row
    assert shift.works(failing(AssertionError("it must not run")), bell=doorbell(before, attempt=2))
    assert shift.row == before
    assert shift.message.hidden == shift.beats.hidden == []


@pytest.mark.parametrize(("receives", "hidden"), [(1, 20), (2, 40), (4, 160), (6, 600), (10**6, 600)])
def test_a_claim_that_cannot_be_decided_is_given_back_uncharged_for_longer_each_time(
    receives: int, hidden: float
) -> None:
    shift = Shift(through=lambda store: FailingStore(under=store, before=1, reads=1))
    assert not shift.works(receives=receives)
    assert shift.message.hidden == [seconds(hidden)]
    assert shift.row == shift.job


def test_a_kind_that_this_version_does_not_know_is_given_back_uncharged() -> None:
    shift = Shift(job=a_job(kind="of-a-later-version"))
    assert not shift.works()
    assert shift.message.hidden == [TIMINGS.give_back]
    assert shift.row == shift.job


def test_a_message_that_cannot_be_given_back_comes_back_by_itself() -> None:
    class Broken(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            super().hide(span)
            raise Unavailable("ThrottlingException")

    shift = Shift(job=a_job(kind="of-a-later-version"), message=Broken())
    assert not shift.works()


def test_a_worker_that_lost_its_lease_ends_quietly_and_its_message_is_done() -> None:
    def play(ctx: JobContext, args: Args) -> None:
        shift.clock.advance_alone(121)
        assert take_over(shift.store, shift.row, shift.clock.now(), TIMINGS) is not None
        try:
            ctx.checkpoint({"done": 1})
        except Exception:  # noqa: BLE001  # what kinds do
            pytest.fail("the interrupt was swallowed")

    shift = Shift()
    assert shift.works(play)
    assert (shift.row.state, shift.row.attempt, shift.row.failures, shift.row.cursor) == (State.QUEUED, 2, 1, None)
    assert shift.watchdog.cancelled == 1


def test_an_attempt_that_cannot_be_settled_leaves_its_message_to_come_back() -> None:
    class Dying(FailingStore):
        def write(self, write: Write) -> Row:
            if "finished_at" in getattr(write, "set", {}):
                shift.clock.advance_alone(200)
                raise Unavailable("ReadTimeoutError")
            return super().write(write)

    shift = Shift(through=lambda store: Dying(under=store))
    assert not shift.works()
    assert shift.row.state is State.RUNNING


def test_a_doorbell_that_comes_back_after_its_worker_died_brings_the_job_on_the_way_again() -> None:
    dead = an_owned_job(kind="script", lease_until=NOW - seconds(1))
    shift = Shift(job=dead)
    assert shift.works(failing(AssertionError("it must not run")))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.QUEUED, 2, 1)


def test_two_attempts_have_two_owners() -> None:
    shift = Shift()
    shift.works(failing(Snooze(timedelta(0))))
    first = shift.row.owner
    shift.works()
    assert first is not None
    assert shift.row.owner not in (None, first)


@contextmanager
def broken_kind(folder: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import jobs

    (folder / "broken.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(folder)])
    yield


def test_a_kind_whose_file_is_broken_fails_its_own_jobs_with_the_reason(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broken_kind(tmp_path, monkeypatch):
        shift = Shift(job=a_job(kind="broken"))
        assert shift.works()
    assert (shift.row.state, shift.row.failures) == (State.RETRYING, 1)
    assert shift.row.error is not None
    assert shift.row.error.type == "BrokenKind"
    assert "a_library_that_is_not_there" in shift.row.error.message


def test_five_transient_failures_end_as_exhausted_and_not_four_or_six() -> None:
    shift = Shift()
    runs = 0
    while not shift.row.state.final:
        runs += 1
        shift.works(failing(ConnectionError("no answer")))
        if shift.row.state is State.RETRYING:
            shift.store.rows[shift.job.key]["state"] = "queued"
    assert runs == 5
    assert shift.row.error is not None
    assert shift.row.error.type == Reason.ATTEMPTS_EXHAUSTED
