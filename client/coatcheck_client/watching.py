"""Following a job until it ends: held answers where there are any, else polls at the pace that the API asks for."""

from collections.abc import Iterator
from functools import partial
from math import inf

from coatcheck_client.api import READ_SECONDS, Answer, Api
from coatcheck_client.job import Job, job_of
from coatcheck_client.patience import Clock, Patience
from coatcheck_client.refusal import accepted, understood
from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

_LONGEST_HELD_SECONDS = 20
_MARGIN_SECONDS = 15
_POLL_SECONDS = 2.0
_SHORTEST_PAUSE_SECONDS = 0.25
_AT_ONCE_SECONDS = 1.0
_NOTHING_SEEN = '""'


class StillOpen(Trouble):
    """The time is over and the job has not ended. `job` is as it was seen last, None if it never was."""

    exit_code = ExitCode.JOB_FAILED

    def __init__(self, path: str, seconds: float, job: Job | None) -> None:
        state = "it was never seen" if job is None else f"it is {job.state}"
        super().__init__(f"{path.rpartition('/')[2]} has not ended within {seconds:g} seconds: {state}")
        self.job = job


def watched(
    api: Api, path: str, *, every_change: bool, timeout: float | None, patience: float, clock: Clock
) -> Iterator[Job]:
    """The job at that path again and again, the last time when it is final.

    With `every_change` it comes with each change, else when there is a reason to ask. Trouble that passes is borne for
    `patience` seconds on end. Raises StillOpen after `timeout` seconds, Refused, Unreachable, NotUnderstood.
    """
    until = inf if timeout is None else clock.elapsed() + timeout
    seen: str | None = None
    job: Job | None = None
    while True:
        asked_at = clock.elapsed()
        bearing = Patience(clock, min(patience, until - asked_at))
        known = (seen or _NOTHING_SEEN) if every_change else None
        try:
            answer, held = bearing.over(partial(_asked, api, path, known, until, clock))
        except Trouble as trouble:
            if trouble.passes and timeout is not None and until - asked_at < patience:
                raise StillOpen(path, timeout, job) from trouble
            raise
        at_once = clock.elapsed() - asked_at < _AT_ONCE_SECONDS
        tag = answer.headers.get("etag")
        is_news = tag is None or tag != seen
        seen, job = tag, understood(answer, job_of)
        if is_news:
            yield job
        if job.final:
            return
        left = until - clock.elapsed()
        if timeout is not None and left <= 0:
            raise StillOpen(path, timeout, job)
        if not held or (at_once and not (every_change and is_news)):
            pause = _POLL_SECONDS if answer.retry_after is None else answer.retry_after
            clock.sleep(min(max(pause, _SHORTEST_PAUSE_SECONDS), left))


def _asked(api: Api, path: str, known: str | None, until: float, clock: Clock) -> tuple[Answer, bool]:
    """The job's status, and whether the answer may have been held until there was news. Raises Refused, Unreachable.

    An API holds few answers at once, and some networks hold none: then a plain one has to do.
    """
    seconds = int(min(max(until - clock.elapsed(), 0), _LONGEST_HELD_SECONDS))
    headers = {} if known is None else {"If-None-Match": known}
    try:
        answer = api.request(
            "GET", f"{path}/wait?seconds={seconds}", headers=headers, timeout=seconds + _MARGIN_SECONDS
        )
    except Unreachable:
        pass
    else:
        if answer.status == 200:
            return accepted(answer), True
        if answer.retry_after:
            clock.sleep(min(answer.retry_after, max(until - clock.elapsed(), 0)))
    left = max(until - clock.elapsed(), 1.0)
    return accepted(api.request("GET", f"{path}?redirect=false", timeout=min(left, READ_SECONDS))), False
