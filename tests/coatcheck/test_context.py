"""What a kind's function works with."""

from dataclasses import dataclass
from typing import Any

import pytest

from coatcheck import JobContext, Result, Source, Upload, job
from coatcheck.context import DuplicateStep
from coatcheck.job import MOST_STAGE_BYTES, Progress
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Failed, Succeeded
from coatcheck.testing import EPOCH, Performed, perform
from tests.coatcheck.scripts import Args, Play


@dataclass(frozen=True, kw_only=True)
class Cursor:
    done: int = 0
    place: tuple[int, int] = (0, 0)
    upload: Upload | None = None


def played(play: Play, **how: Any) -> Performed:
    @job()
    def play_it(ctx: JobContext, args: Args) -> Result | None:
        return play(ctx, args)

    return perform(play_it, Args(), **how)


def value_of(read: Any, **how: Any) -> Any:
    """What a function sees of its context."""
    seen: list[Any] = []
    outcome = played(lambda ctx, _: seen.append(read(ctx)), **how).outcome
    assert isinstance(outcome, Succeeded), outcome
    return seen[0]


def test_a_first_attempt_resumes_from_its_start() -> None:
    assert value_of(lambda ctx: ctx.resume(Cursor())) == Cursor()


def test_a_cursor_comes_back_as_the_value_that_was_saved_tuples_and_uploads_included() -> None:
    saved = Cursor(done=7, place=(3, 4), upload=Upload(id="u", nonce="n"))
    first = played(lambda ctx, _: ctx.checkpoint(saved))
    assert value_of(lambda ctx: ctx.resume(Cursor()), cursor=first.checkpoints[-1]) == saved


def test_a_cursor_that_is_no_json_is_refused_when_it_is_saved() -> None:
    outcome = played(lambda ctx, _: ctx.checkpoint(object())).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "TypeError"


def test_a_step_runs_once_over_all_attempts() -> None:
    calls: list[int] = []

    def charge(amount: int) -> dict[str, int]:
        calls.append(amount)
        return {"charged": amount}

    first = played(lambda ctx, _: Result(rows=ctx.step("charge", charge, 5)["charged"]))
    again = played(lambda ctx, _: Result(rows=ctx.step("charge", charge, 6)["charged"]), steps=first.steps)
    assert first.outcome == again.outcome == Succeeded(result=Result(rows=5))
    assert calls == [5]


def test_a_step_that_returns_nothing_is_remembered_too() -> None:
    calls: list[str] = []
    first = played(lambda ctx, _: ctx.step("notify", calls.append, "once"))
    played(lambda ctx, _: ctx.step("notify", calls.append, "twice"), steps=first.steps)
    assert calls == ["once"]


def test_two_steps_of_one_name_are_an_error_and_do_not_share_a_result() -> None:
    def play(ctx: JobContext, args: Args) -> None:
        ctx.step("charge", int)
        ctx.step("charge", int)

    outcome = played(play).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == DuplicateStep.__name__
    assert "'charge'" in outcome.error.message


def test_a_key_for_side_effects_is_the_same_in_every_attempt_and_differs_by_job_and_name() -> None:
    def key(name: str, **how: Any) -> Any:
        return value_of(lambda ctx: ctx.key(name), **how)

    assert key("charge", attempt=1) == key("charge", attempt=4)
    others = {key("charge"), key("refund"), key("charge", job_id="j_11111111111111111111111111")}
    assert len(others) == 3


@pytest.mark.parametrize(
    ("done", "total"), [(1.5, None), (-1, None), (0, -1), (2**60, None), (float("nan"), None), ("7", None), (0, 1e9)]
)
def test_progress_that_is_no_count_is_an_error_where_it_is_reported(done: Any, total: Any) -> None:
    outcome = played(lambda ctx, _: ctx.progress(done=done, total=total)).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "ValueError"
    assert "whole numbers" in outcome.error.message


def test_zero_is_a_count_and_a_long_stage_is_cut() -> None:
    run = played(lambda ctx, _: ctx.progress(done=0, total=0, stage="प" * 1000))
    (progress,) = run.progress
    assert (progress.done, progress.total, progress.percent) == (0, 0, None)
    assert progress.stage is not None
    assert len(progress.stage.encode()) <= MOST_STAGE_BYTES


@pytest.mark.parametrize(
    ("done", "total", "percent"), [(0, 3, 0), (1, 3, 33), (3, 3, 100), (7, 3, 100), (1, None, None), (1, 0, None)]
)
def test_percent_is_whole_and_never_above_a_hundred(done: int, total: int | None, percent: int | None) -> None:
    assert Progress(done=done, total=total).percent == percent


def test_a_function_knows_which_attempt_of_which_job_it_is_and_what_it_sees_of_the_world() -> None:
    seen = value_of(lambda ctx: (ctx.tenant, ctx.attempt, ctx.as_of, ctx.cancel_requested), tenant="globex", attempt=3)
    assert seen == ("globex", 3, EPOCH, False)


def test_output_lies_under_the_tenant_and_the_job_so_that_a_second_run_finds_it() -> None:
    objects = MemoryObjects()

    def play(ctx: JobContext, args: Args) -> Result:
        out = ctx.output("report.txt", content_type="text/plain")
        out.write(b"abc")
        return Result(file=out.complete())

    played(play, objects=objects, job_id="j_1", attempt=1)
    played(play, objects=objects, job_id="j_1", attempt=2)
    assert objects.versions == {"results/acme/j_1/report.txt": 1}


def test_the_source_is_asked_for_only_when_it_is_used() -> None:
    source = Source(url="postgresql://localhost/shop", rows_per_second=10)
    assert value_of(lambda ctx: ctx.source, source=source) == source
    outcome = played(lambda ctx, _: Result(rows=ctx.source.rows_per_second)).outcome
    assert isinstance(outcome, Failed)
    assert "perform(..., source=" in outcome.error.message
