"""`perform`: a kind runs without AWS, and a test sees all that it did."""

from dataclasses import dataclass

import pytest

from coatcheck import JobContext, Result, job
from coatcheck.endings import CancelRequested, Interrupt, LeaseLost, YieldRequested
from coatcheck.job import Progress
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Cancelled, Failed, Succeeded, Yielded
from coatcheck.testing import perform


@dataclass(frozen=True, kw_only=True)
class Args:
    upto: int


@dataclass(frozen=True, kw_only=True)
class Cursor:
    done: int = 0


@job()
def counting(ctx: JobContext, args: Args) -> Result:
    cursor = ctx.resume(Cursor())
    while cursor.done < args.upto:
        cursor = Cursor(done=cursor.done + 1)
        ctx.progress(done=cursor.done, total=args.upto)
        ctx.checkpoint(cursor)
    out = ctx.output("count.txt", content_type="text/plain")
    out.write(str(cursor.done).encode())
    ctx.log.info("counted", upto=args.upto)
    return Result(file=out.complete(), rows=cursor.done)


def test_it_shows_the_outcome_and_what_the_run_left() -> None:
    run = perform(counting, Args(upto=2))
    assert isinstance(run.outcome, Succeeded)
    assert run.outcome.result.rows == 2
    assert run.checkpoints == ('{"done":1}', '{"done":2}')
    assert run.progress == (Progress(done=1, total=2), Progress(done=2, total=2))
    assert run.log == (("counted", {"upto": 2}),)
    assert list(run.objects.contents.values()) == [b"2"]


@pytest.mark.parametrize("cursor", [Cursor(done=1), '{"done":1}'])
def test_it_goes_on_from_a_cursor(cursor: object) -> None:
    run = perform(counting, {"upto": 3}, cursor=cursor)
    assert run.checkpoints == ('{"done":2}', '{"done":3}')


def test_two_runs_may_share_a_bucket() -> None:
    objects = MemoryObjects()
    perform(counting, Args(upto=1), objects=objects)
    again = perform(counting, Args(upto=1), objects=objects, attempt=2)
    assert again.objects is objects
    assert set(objects.versions.values()) == {1}


@pytest.mark.parametrize(
    ("interrupt", "outcome"),
    [(YieldRequested(), Yielded(advanced=True)), (CancelRequested(), Cancelled(reason="cancelled on request"))],
)
def test_a_run_can_be_stopped_at_any_checkpoint(interrupt: Interrupt, outcome: object) -> None:
    run = perform(counting, Args(upto=9), at_checkpoint=lambda number: interrupt if number == 2 else None)
    assert (run.outcome, len(run.checkpoints)) == (outcome, 2)


def test_a_run_that_loses_its_lease_ends_without_an_outcome() -> None:
    with pytest.raises(LeaseLost):
        perform(counting, Args(upto=9), at_checkpoint=lambda _: LeaseLost("j_1", 1))


def test_args_are_checked_as_a_submits_are() -> None:
    outcome = perform(counting, {"upto": "many"}).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "InvalidArgs"


def test_what_is_no_kind_cannot_be_performed() -> None:
    with pytest.raises(TypeError, match="not declared with @job"):
        perform(lambda _, __: None, {})
