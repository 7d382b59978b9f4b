"""What the simulation's kinds do, and how they stop the world they run in."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from coatcheck import JobContext
from coatcheck.endings import Interrupt
from coatcheck.job import step_key
from tests.simulation import stage
from tests.simulation.lambdas import Invocation
from tests.simulation.record import Play, Surprise


class Move(StrEnum):
    """What an attempt comes to."""

    WORK = "work"
    LONG = "work for longer than a function may"
    DEAF = "work on, whatever it is asked"
    FAIL = "fail"
    FAIL_FOR_GOOD = "fail for good"
    PERMANENT = "say that it is hopeless"
    SNOOZE = "snooze"
    SLEEP_LONG = "snooze for long"
    CANCEL = "cancel itself"
    STUCK = "yield without getting on"
    STALL = "hang"
    OVERSTAY = "hang until the function's end"
    HOLD = "hold the interpreter"


class Gaffe(Exception):
    """Another attempt may do better."""


class Hopeless(Exception):
    """An error that the kinds give up on."""


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Seconds, as the stage's timings make them tell."""

    short: float
    """Not so long that it looks like a hang."""

    toil: float
    """Twice as long is when a function asks for a yield, and before it insists."""

    stall: float
    overstay: float
    hold: float
    snooze: float
    long_snooze: float


def ask() -> Spans:
    made = stage.world().stage
    timings = made.timings
    return Spans(
        short=timings.stall.total_seconds() * 0.6,
        toil=(made.worker_timeout / 1000 - (timings.yield_before + timings.hard_stop_before).total_seconds() / 2) / 2,
        stall=timings.stall.total_seconds() + 2 * timings.answer_within.total_seconds(),
        overstay=made.worker_timeout / 1000,
        hold=timings.lease.total_seconds() * 1.5,
        snooze=timings.retry_delays[1].total_seconds(),
        long_snooze=timings.wake_limit.total_seconds() * 1.2,
    )


def move_of(plan: tuple[str, ...], attempt: int) -> Move:
    """After its plan, a kind just works."""
    return Move(plan[attempt - 1]) if attempt <= len(plan) else Move.WORK


def note(ctx: JobContext, did: str) -> None:
    world = stage.world()
    world.trace(f"{ctx.job_id} attempt {ctx.attempt} {did}", ctx.job_id)
    world.plays.append(Play(at=world.now, job_id=ctx.job_id, attempt=ctx.attempt, did=did))


def toil(ctx: JobContext) -> None:
    """Be busy for nearly half of a function's time, and say so."""
    rounds = ceil(ask().toil / ask().short)
    for _ in range(rounds):
        ctx.wait(ask().toil / rounds)
        ctx.progress(done=0)


def nap(seconds: float) -> None:
    """Sleep through everything."""
    stage.world().scheduler.sleep(round(seconds * 1000))


def hold(seconds: float) -> None:
    """Keep the interpreter from every other thread of the process."""
    world = stage.world()
    world.held(seconds)


def deafly(do: Callable[[], None]) -> None:
    """Do something, and pass over every request to stop."""
    try:
        do()
    except Interrupt:
        return


def paid(ctx: JobContext) -> str:
    """A step, which must not be done again once it is remembered; but whoever was paused after its look may."""
    world = stage.world()
    worker = world.author
    remembered = step_key(ctx._root, "pay") in world.table.rows
    if remembered and not (isinstance(worker, Invocation) and worker.troubles):
        world.surprises.append(Surprise(at=world.now, text="a step was done again", about=ctx.job_id))
    note(ctx, "pays")
    return "paid"


def block(name: str, number: int) -> bytes:
    """A part of a parcel."""
    return f"[{name}:{number:06d}]".encode()
