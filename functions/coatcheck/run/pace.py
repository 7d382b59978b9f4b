"""The pace of polls, as a process knows it."""

from datetime import datetime

from coatcheck.load import poll_seconds
from coatcheck.run.known_load import KnownLoad


class Pace:
    def __init__(self, load: KnownLoad, polls_per_second: int) -> None:
        self._load = load
        self._polls_per_second = polls_per_second

    def seconds(self, now: datetime) -> int:
        """How long a client should wait before it asks again."""
        return poll_seconds(self._load.at(now).open_jobs, self._polls_per_second)
