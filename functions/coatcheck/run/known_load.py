"""The load as a process knows it: looked up now and then, not with every request."""

from contextlib import suppress
from datetime import datetime, timedelta

from coatcheck.load import COUNT_EVERY, NotedLoad, noted_load
from coatcheck.store import Store, Unavailable


class KnownLoad:
    """One that cannot be looked up is the last one; before any was, it is none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._load = NotedLoad()
        self._looked_up: datetime | None = None

    def at(self, now: datetime, believed_for: timedelta = COUNT_EVERY) -> NotedLoad:
        if self._looked_up is None or now - self._looked_up >= believed_for:
            self._looked_up = now
            with suppress(Unavailable):  # an answer without news of the load is better than none
                self._load = noted_load(self._store)
        return self._load
