"""Time limits: what ends an attempt although its worker is well, and a job although nothing is wrong with it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from coatcheck.job import Error, Job, Reason
from coatcheck.timings import Timings


@dataclass(frozen=True, kw_only=True)
class Limit:
    """From `at` on, an attempt has failed for a reason, whatever it goes on to do."""

    at: datetime
    error: Error


def gives_up_at(job: Job, timings: Timings) -> datetime:
    """When a job that is still open is given up, however it waited."""
    return job.created_at + timings.give_up_after


def timeout_at(job: Job) -> datetime | None:
    """When the running time of an attempt under way, with that of the ones before it, is spent."""
    return None if job.claimed_at is None else job.claimed_at + (job.timeout - job.ran)


def attempts_limit(job: Job, timings: Timings) -> Limit:
    """Of a claimed job: the time by which its attempt must be over."""
    given_up = Limit(at=gives_up_at(job, timings), error=gave_up(timings))
    timed_out_at = timeout_at(job)
    if timed_out_at is None or timed_out_at >= given_up.at:
        return given_up
    return Limit(at=timed_out_at, error=timed_out(job))


def spent(job: Job, ran: timedelta, now: datetime, timings: Timings) -> Error | None:
    """Why a job whose attempt is over, after so much running time in all, must not go on; None if it may."""
    if ran >= job.timeout:
        return timed_out(job)
    return gave_up(timings) if now >= gives_up_at(job, timings) else None


def timed_out(job: Job) -> Error:
    message = f"it ran for longer than the {job.timeout} that its kind allows, all attempts together"
    return Error(type=Reason.TIMED_OUT, message=message, retryable=False)


def stalled(timings: Timings) -> Error:
    """Another attempt may do better: what hung may answer then."""
    return Error(type=Reason.STALLED, message=f"neither a checkpoint nor progress came for {timings.stall}")


def gave_up(timings: Timings) -> Error:
    message = f"it was not done within {timings.give_up_after.days} days of its submit"
    return Error(type=Reason.GAVE_UP, message=message, retryable=False)
