"""How a handler is ended: what it may raise itself, and what the platform raises in it."""

from datetime import timedelta

from coatcheck.job import Error


class Permanent(Exception):
    """Raised by a handler: trying again cannot help, the job fails at once."""


class Snooze(Exception):
    """Raised by a handler: go on from the last checkpoint after `delay`. Not a failure."""

    def __init__(self, delay: timedelta) -> None:
        if delay < timedelta(0):
            raise ValueError(f"Snooze(delay) cannot wait for {delay}: give a delay of zero or more")
        super().__init__(f"snoozed for {delay}")
        self.delay = delay


class Cancel(Exception):
    """Raised by a handler: there is nothing left to do, the job ends as cancelled."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupt(BaseException):
    """Raised by the platform in a handler that must stop. Not an Exception, so that no handler swallows it."""


class LeaseLost(Interrupt):
    """The job is somebody else's now, or ended: nothing that this attempt does counts any more."""

    def __init__(self, job_id: str, attempt: int) -> None:
        super().__init__(f"attempt {attempt} of {job_id} lost its lease")
        self.job_id = job_id
        self.attempt = attempt


class YieldRequested(Interrupt):
    """The function's time is nearly over: the work goes on in an attempt of its own, from this checkpoint."""


class CancelRequested(Interrupt):
    """Somebody asked for the job to be cancelled."""


class OverLimit(Interrupt):
    """The attempt is over a time limit: it has failed."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.error = error
