"""A job that does what it is told: for tests and load, never in a production stage."""

import os
import re
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil
from typing import Annotated, Literal

from coatcheck import JobContext, Meta, Permanent, Result, Retry, Snooze, Upload, job

Count = Annotated[int, Meta(ge=0, le=1_000_000)]
BACKTRACKING = re.compile(r"(a+)+$")
ONE_STEP = timedelta(seconds=1)
SIGN_OF_LIFE_SECONDS = 5.0
CLOCK_ERROR_SECONDS = 0.05
LINE = b"0123456789abcde\n"
BLOCK = 1_048_576
PART = 8 * BLOCK


class TransientFault(Exception):
    """The failure that was asked for."""


@dataclass(frozen=True, kw_only=True)
class Args:
    """`steps` steps share `seconds`; the first `fail_times` attempts then end as `fail_with` says.

    `checkpoint`: whether each step is saved. `cpu_bound`: compute instead of sleeping. `result_bytes`: size of the
    result; none if zero. All optional: by default the job succeeds at once.
    """

    seconds: Annotated[float, Meta(ge=0, le=86_400, examples=[0.5])] = 0
    steps: Annotated[int, Meta(ge=1, le=100_000, examples=[5])] = 1
    fail_times: Count = 0
    fail_with: Literal["transient", "permanent", "crash", "hang", "hang_in_c", "snooze"] = "transient"
    cpu_bound: bool = False
    checkpoint: bool = True
    result_bytes: Annotated[int, Meta(ge=0, le=1_073_741_824, examples=[1000])] = 0


@dataclass(frozen=True, kw_only=True)
class Cursor:
    done: int = 0
    upload: Upload | None = None
    """A result of several parts: all of them are put, so that a later attempt can only complete it."""


@job(timeout=timedelta(hours=24), retry=Retry())
def probe(ctx: JobContext, args: Args) -> Result:
    cursor = ctx.resume(Cursor())
    ends_badly = ctx.attempt <= args.fail_times
    for step in range(cursor.done, args.steps):
        if not _worked(ctx, step, args.seconds / args.steps, cpu_bound=args.cpu_bound):
            ctx.checkpoint(cursor)  # the step was cut short: stop here, and do it again
        ctx.progress(done=step + 1, total=args.steps, stage="probing")
        if ends_badly and step + 1 > args.steps // 2:
            _end_badly(args)
        if args.checkpoint and step + 1 < args.steps:
            cursor = Cursor(done=step + 1)
            ctx.checkpoint(cursor)
    if ends_badly:
        _end_badly(args)
    return _result(ctx, replace(cursor, done=args.steps), args.result_bytes)


def _worked(ctx: JobContext, done: int, seconds: float, *, cpu_bound: bool) -> bool:
    """Spend the time of a step, with a sign of life now and then, and say whether it was all spent."""
    end = time.monotonic() + seconds
    while cpu_bound and time.monotonic() < end and not ctx.cancel_requested:
        sum(number * number for number in range(2_000))
        ctx.progress(done=done)
    waits = 0 if cpu_bound else ceil(seconds / SIGN_OF_LIFE_SECONDS)
    for _ in range(waits):
        ctx.wait(seconds / waits)
        ctx.progress(done=done)
    return time.monotonic() >= end - CLOCK_ERROR_SECONDS


def _end_badly(args: Args) -> None:
    match args.fail_with:
        case "transient":
            raise TransientFault("failed as it was told to")
        case "permanent":
            raise Permanent("failed for good, as it was told to")
        case "snooze":
            raise Snooze(ONE_STEP)
        case "crash":
            os._exit(70)
        case "hang":
            time.sleep(86_400)  # what a lost network call looks like from outside; the time limit `stall` ends it
        case "hang_in_c":
            BACKTRACKING.match("a" * 64 + "b")


def _result(ctx: JobContext, cursor: Cursor, size: int) -> Result:
    if not size:
        return Result()
    out = ctx.output("probe.txt", content_type="text/plain", resume=cursor.upload)
    begun = 0 if cursor.upload is None else size if out.rewound is None else out.rewound
    for start in range(begun, size, BLOCK):
        out.write((LINE * (BLOCK // len(LINE)))[: min(BLOCK, size - start)])
        if out.pending >= PART:
            out.put_part(start + BLOCK - out.pending)
    if out.upload is not None and out.finished is None:
        if out.pending:
            out.put_part(size - out.pending)
        ctx.checkpoint(replace(cursor, upload=out.upload))
    return Result(file=out.complete(), rows=size // len(LINE))
