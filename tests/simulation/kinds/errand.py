"""A kind that does what its plan says, attempt by attempt: works, fails, hangs, sleeps through requests to stop."""

from dataclasses import dataclass
from datetime import timedelta

from coatcheck import Cancel, JobContext, Permanent, Result, Retry, Snooze, job
from tests.simulation.moves import Gaffe, Hopeless, Move, ask, deafly, hold, move_of, nap, note, paid, toil


@dataclass(frozen=True, kw_only=True)
class Args:
    name: str
    plan: tuple[str, ...] = ()
    steps: int = 3
    pace: float = 5
    bulky: bool = False
    """Whether its cursor is too large for the row."""


@dataclass(frozen=True, kw_only=True)
class Cursor:
    done: int = 0
    padding: str = ""


@job(timeout=timedelta(hours=1), retry=Retry(failures=4, give_up_on=(Hopeless,)), cap_by=("name",))
def errand(ctx: JobContext, args: Args) -> Result:
    move = move_of(args.plan, ctx.attempt)
    note(ctx, f"begins to {move}")
    cursor = ctx.resume(Cursor())
    for number in range(cursor.done, args.steps):
        ctx.wait(args.pace)
        if move is Move.LONG:
            toil(ctx)
        _move(ctx, move, cursor)
        ctx.progress(done=number + 1, total=args.steps, stage="going")
        cursor = Cursor(done=number + 1, padding="x" * 1_200 if args.bulky else "")
        if move is Move.DEAF:
            deafly(lambda cursor=cursor: ctx.checkpoint(cursor))  # type: ignore[misc]
        else:
            ctx.checkpoint(cursor)
    ctx.step("pay", paid, ctx)
    note(ctx, "succeeds")
    return Result(rows=args.steps)


def _move(ctx: JobContext, move: Move, cursor: Cursor) -> None:
    note(ctx, f"will {move}")
    if (ending := _ending(move)) is not None:
        raise ending
    match move:
        case Move.STUCK:
            while True:
                ctx.wait(ask().short)
                ctx.checkpoint(cursor)
        case Move.STALL:
            nap(ask().stall)
        case Move.OVERSTAY:
            nap(ask().overstay)
        case Move.HOLD:
            hold(ask().hold)


def _ending(move: Move) -> Exception | None:
    endings: dict[Move, Exception] = {
        Move.FAIL: Gaffe("it did not work out"),
        Move.FAIL_FOR_GOOD: Hopeless("it never will"),
        Move.PERMANENT: Permanent("there is no such thing"),
        Move.SNOOZE: Snooze(timedelta(seconds=ask().snooze)),
        Move.SLEEP_LONG: Snooze(timedelta(seconds=ask().long_snooze)),
        Move.CANCEL: Cancel("nothing to do"),
    }
    return endings.get(move)
