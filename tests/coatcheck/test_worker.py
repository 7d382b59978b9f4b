"""A worker: from a doorbell to a settled attempt."""

from datetime import timedelta
from threading import Event

import pytest

from coatcheck import JobContext, Permanent, Result, Snooze
from coatcheck.job import State, args_key
from coatcheck.memory import MemoryMessage, MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import MINIMUM_PART_BYTES
from coatcheck.row import Row
from coatcheck.store import Unavailable
from coatcheck.write import Write
from tests.coatcheck.clock import eventually
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, seconds
from tests.coatcheck.scripts import Args, Hopeless, Play
from tests.coatcheck.shift import Shift, failing

pytestmark = pytest.mark.usefixtures("kinds")


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


def test_the_last_checkpoint_before_a_failure_counts_although_no_heart_beat_since() -> None:
    resumed_at: list[int] = []
    written: list[int] = []

    def play(ctx: JobContext, args: Args) -> None:
        at = ctx.resume(0)
        resumed_at.append(at)
        while at < 10_000:
            at += 100
            written.extend(range(at - 100, at if ctx.attempt > 1 else min(at, 9_950)))
            if len(written) == 9_950:
                raise ConnectionError
            ctx.checkpoint(at)

    shift = Shift()
    assert shift.works(play)
    assert (shift.row.cursor, len(shift.beats.hidden)) == ("9900", 1)
    shift.store.rows[shift.job.key]["state"] = "queued"
    assert shift.works(play)
    assert (shift.row.state, resumed_at) == (State.SUCCEEDED, [0, 9_900])
    assert written == [*range(9_950), *range(9_900, 10_000)]


def a_large_step(ctx: JobContext, args: Args) -> None:
    ctx.step("report", lambda: "x" * 500_000)


def a_large_error(ctx: JobContext, args: Args) -> None:
    raise ConnectionError("रिपोर्ट" * 100_000)


def a_large_cursor(ctx: JobContext, args: Args) -> None:
    ctx.checkpoint("x" * 1_000_000)
    raise ConnectionError


@pytest.mark.parametrize("play", [a_large_step, a_large_error, a_large_cursor])
@pytest.mark.parametrize(("failures", "state"), [(0, State.RETRYING), (4, State.FAILED)])
def test_whatever_outgrows_an_item_the_end_of_the_attempt_can_still_be_written(
    play: Play, failures: int, state: State
) -> None:
    shift = Shift(job=a_job(kind="script", failures=failures))
    assert shift.works(play)
    assert (shift.row.state, shift.row.failures) == (state, failures + 1)
    assert len(repr(shift.store.rows[shift.job.key]).encode()) < 8 * 1024


def test_a_job_whose_upload_fails_is_tried_again_and_has_not_succeeded() -> None:
    class Slow(MemoryObjects):
        def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
            if number == 7:
                raise Unavailable("SlowDown")
            return super().put_part(key, upload_id, number, data)

    def play(ctx: JobContext, args: Args) -> Result:
        out = ctx.output("report.csv")
        for _ in range(7):
            out.write(b"x" * MINIMUM_PART_BYTES)
            out.put_part()
        return Result(file=out.complete())

    shift = Shift(objects=Slow())
    assert shift.works(play)
    assert (shift.row.state, shift.row.failures, shift.row.result) == (State.RETRYING, 1, None)
    assert shift.objects.contents == {}
