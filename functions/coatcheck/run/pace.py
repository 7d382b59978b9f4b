"""The pace of polls, as a process knows it: the load is looked up now and then, not with every request."""

from contextlib import suppress
from datetime import datetime, timedelta

from coatcheck.load import noted_load, poll_seconds
from coatcheck.store import Store, Unavailable

LOOK_UP_EVERY = timedelta(seconds=10)


class Pace:
    def __init__(self, store: Store, polls_per_second: int) -> None:
        self._store = store
        self._polls_per_second = polls_per_second
        self._open_jobs = 0
        self._looked_up: datetime | None = None

    def seconds(self, now: datetime) -> int:
        """How long a client should wait before it asks again. A load that cannot be looked up is the last one."""
        if self._looked_up is None or now - self._looked_up >= LOOK_UP_EVERY:
            self._looked_up = now
            with suppress(Unavailable):  # an answer without news of the load is better than none
                self._open_jobs = noted_load(self._store)
        return poll_seconds(self._open_jobs, self._polls_per_second)
