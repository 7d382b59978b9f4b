"""The pauses as a process knows them: what holds nobody is believed for a while, what holds somebody is looked at."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from coatcheck.hold import Hold
from coatcheck.pause import Pauses, pauses
from coatcheck.store import Store, Unavailable

LOOK_UP_EVERY = timedelta(seconds=5)


class KnownPauses:
    """If they cannot be looked up, the last ones count; if none ever were, nothing is paused: work goes on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pauses = Pauses()
        self._as_of = datetime.min.replace(tzinfo=UTC)

    def hold(self, kind: str, lane: str, tenant: str, now: datetime, since: datetime | None = None) -> Hold | None:
        """What holds jobs of this kind, lane and tenant, by what was known no earlier than `since`.

        A job that was taken back has a mark: a process that did not know of the pause yet would send it once more. And
        one that does not know of a resume yet would take it back once more, so nobody is held by what is not new.
        """
        fresh = timedelta(0) <= now - self._as_of < LOOK_UP_EVERY and (since is None or self._as_of > since)
        if not fresh or (self._as_of < now and self._pauses.on(kind, lane, tenant) is not None):
            self._look_up(now)
        return self._pauses.on(kind, lane, tenant)

    def _look_up(self, now: datetime) -> None:
        """A look that fails tells nothing: the next one comes at the next chance."""
        with suppress(Unavailable):
            self._pauses = pauses(self._store)
            self._as_of = now
