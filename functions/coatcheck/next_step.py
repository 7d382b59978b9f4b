"""The one rule: what a job is owed now, whoever asks. Level-triggered: it looks at the row as it is."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from coatcheck.hold import Hold
from coatcheck.job import Job, State
from coatcheck.takeover import expired
from coatcheck.time_limit import gives_up_at
from coatcheck.timings import Timings


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Somebody is at work, or all is done."""


@dataclass(frozen=True, kw_only=True)
class Send:
    """Ring the lane for the attempt that is owed."""


@dataclass(frozen=True, kw_only=True)
class StandInLine:
    """Ring the lane, had a slot of this limiter been free: it is marked, so that it is found when one is."""

    limiter: str


@dataclass(frozen=True, kw_only=True)
class Park:
    """It must not start now: it is marked, so that it is found when it may."""

    hold: Hold


@dataclass(frozen=True, kw_only=True)
class TakeBack:
    """It must not start now, although its doorbell was rung, long ago: the next number is owed instead."""

    hold: Hold


@dataclass(frozen=True, kw_only=True)
class StepAside:
    """It must not start now, and whoever arranged that may have left it a slot."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Arrange to be rung at `until` by a delayed message."""

    until: datetime


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """It has been arranged that somebody rings at `until`."""

    until: datetime


@dataclass(frozen=True, kw_only=True)
class Postpone:
    """Nothing is owed before `due`: the supervisor need not look sooner."""

    due: datetime


@dataclass(frozen=True, kw_only=True)
class Requeue:
    """The retry is due."""


@dataclass(frozen=True, kw_only=True)
class TakeOver:
    """The worker died."""


@dataclass(frozen=True, kw_only=True)
class GiveUp:
    """It waited for as long as a job may."""


@dataclass(frozen=True, kw_only=True)
class Conclude:
    """The job is final, and its dead letter has yet to be sent if it is owed one."""


@dataclass(frozen=True, kw_only=True)
class Tell:
    """The job is final, and the recorder has not told of it in time."""


Step: TypeAlias = (
    Nothing
    | Send
    | StandInLine
    | Park
    | TakeBack
    | StepAside
    | Wait
    | Waiting
    | Postpone
    | Requeue
    | TakeOver
    | GiveUp
    | Conclude
    | Tell
)


def next_step(job: Job, now: datetime, timings: Timings, hold: Hold | None) -> Step:
    """What the job is owed at `now`, if that is what holds it."""
    match job.state:
        case State.QUEUED:
            return _queued(job, now, timings, hold)
        case State.RETRYING:
            return _until(job, job.retry_at, now, timings) or Requeue()
        case State.RUNNING | State.CANCELLING:
            return _owned(job, now, timings)
        case State.SUCCEEDED | State.FAILED | State.CANCELLED:
            return _final(job, now)


def _queued(job: Job, now: datetime, timings: Timings, hold: Hold | None) -> Step:
    if now >= gives_up_at(job, timings):
        return GiveUp()
    if (wait := _until(job, job.run_at, now, timings)) is not None:
        return wait
    overdue = job.due is None or job.due <= now
    sent = job.sent >= job.attempt
    match hold:
        case None:
            return Send() if overdue or not sent else Nothing()
        case Hold(limiter=limiter) if not sent and job.waiting != limiter:
            return Park(hold=hold)
        case Hold() if not overdue and sent:
            return Nothing()  # whoever hears its doorbell takes it back
        case Hold() if not overdue:
            return StepAside()
        case Hold() if sent:
            return TakeBack(hold=hold)
    return Postpone(due=min(now + timings.ring_again, gives_up_at(job, timings)))


def _owned(job: Job, now: datetime, timings: Timings) -> Step:
    if expired(job, now):
        return TakeOver()
    if job.lease_until is not None and (job.due is None or job.due <= now):
        return Postpone(due=job.lease_until + timings.lease_grace)
    return Nothing()


def _final(job: Job, now: datetime) -> Step:
    if not job.freed:
        return Conclude()
    return Nothing() if job.told or (job.due is not None and job.due > now) else Tell()


def _until(job: Job, until: datetime | None, now: datetime, timings: Timings) -> Step | None:
    """The step of a job that waits; None if its time has come.

    Whoever leaves a wait behind sets `due` to its end at the latest; whoever arranges it moves `due` past the end.
    """
    if until is None or until <= now:
        return None
    if job.due is not None and job.due > until:
        return Waiting(until=until)
    if until - now <= timings.wake_limit:
        return Wait(until=until)
    return Nothing() if job.due == until else Postpone(due=until)
