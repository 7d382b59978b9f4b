"""A kind with a natural key and an output of several parts."""

from dataclasses import dataclass, replace
from datetime import timedelta

from coatcheck import JobContext, Output, Result, Retry, Upload, job
from tests.simulation.moves import Gaffe, Hopeless, Move, ask, block, hold, move_of, nap, note, toil


@dataclass(frozen=True, kw_only=True)
class Args:
    customer: str
    plan: tuple[str, ...] = ()
    parts: int = 3
    pace: float = 5


@dataclass(frozen=True, kw_only=True)
class Cursor:
    at: int = 0
    upload: Upload | None = None
    sealed: bool = False


@job(unique=("customer",), lane="bulk", timeout=timedelta(hours=1), retry=Retry(failures=3, give_up_on=(Hopeless,)))
def parcel(ctx: JobContext, args: Args) -> Result:
    move = move_of(args.plan, ctx.attempt)
    note(ctx, f"begins to {move}")
    cursor = ctx.resume(Cursor())
    out = ctx.output("parcel.bin", resume=cursor.upload)
    if isinstance(out.rewound, int):
        cursor = Cursor(at=out.rewound, upload=out.upload)
    if not cursor.sealed:
        _packed(ctx, args, cursor, out, move)
    if move is Move.OVERSTAY:
        nap(ask().overstay)
    file = out.complete()
    note(ctx, "succeeds")
    return Result(file=file, rows=args.parts)


def _packed(ctx: JobContext, args: Args, cursor: Cursor, out: Output, move: Move) -> None:
    for number in range(cursor.at, args.parts):
        out.write(block(args.customer, number))
        ctx.wait(args.pace)
        if move is Move.LONG:
            toil(ctx)
        _move(ctx, move)
        ctx.progress(done=number + 1, total=args.parts)
        if args.parts > 1:
            cursor = Cursor(at=number + 1, upload=out.put_part(number))
            ctx.checkpoint(cursor)
    if args.parts > 1:
        ctx.checkpoint(replace(cursor, sealed=True))


def _move(ctx: JobContext, move: Move) -> None:
    note(ctx, f"will {move}")
    match move:
        case Move.FAIL:
            raise Gaffe("it did not work out")
        case Move.FAIL_FOR_GOOD:
            raise Hopeless("it never will")
        case Move.STALL:
            nap(ask().stall)
        case Move.HOLD:
            hold(ask().hold)
        case _:
            return
