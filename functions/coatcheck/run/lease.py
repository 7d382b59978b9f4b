"""A held lease: every write of the attempt that owns a job, fenced and numbered, under one lock."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from threading import Event
from typing import TypeAlias

from coatcheck.endings import CancelRequested, LeaseLost, OverLimit, YieldRequested
from coatcheck.job import Job, Progress, State, job_of, step_key
from coatcheck.objects import ObjectExists, Objects
from coatcheck.outcome import ON_REQUEST, Cancelled, Failed, Outcome, Yielded
from coatcheck.progress import merged, worth_writing
from coatcheck.retry import retry_delay
from coatcheck.row import Row
from coatcheck.run.clock import Clock
from coatcheck.run.threads import REAL_THREADS, Threads
from coatcheck.settle import (
    beat_write,
    checkpoint_write,
    owned_by,
    progress_write,
    settle_write,
    settled_by,
    written_by,
)
from coatcheck.store import Refused, Store, Unavailable, write_or_find
from coatcheck.time_limit import attempts_limit, stalled
from coatcheck.timings import Timings
from coatcheck.write import Update, absent, put

INLINE_CURSOR_BYTES = 1024
ASK_AGAIN = timedelta(seconds=1)

Build: TypeAlias = Callable[[int, datetime], Update]
"""Makes a write of its sequence number and the time."""

Mine: TypeAlias = Callable[[Row, Update], bool]
"""Whether a row shows the effect of a write."""


class HeldLease:
    """One attempt's hold on its job. The handler's thread and the heartbeat share it.

    A refused write means that the job is somebody else's: then `must_stop` is set and every call raises LeaseLost.
    """

    def __init__(
        self,
        *,
        job: Job,
        store: Store,
        objects: Objects,
        clock: Clock,
        timings: Timings,
        yield_at: datetime,
        delays: tuple[timedelta, ...],
        threads: Threads = REAL_THREADS,
    ) -> None:
        self.job = job
        self.must_stop = Event()
        self._store = store
        self._objects = objects
        self._clock = clock
        self._timings = timings
        self._yield_at = yield_at
        self._delays = delays
        self._lock = threads.lock()
        self._seq = job.seq
        self._lease_until = job.lease_until or clock.now()
        self._progress = self._written = job.progress
        self._written_at = clock.now()
        self._limit = attempts_limit(job, timings)
        self._active_at = clock.now()
        self._ending: Outcome | None = None
        self._answer_by = self._limit.at
        self._begun_at = job.cursor or job.cursor_key
        self._advanced = False
        self._over = False

    @property
    def remaining(self) -> timedelta:
        """What is left of the lease."""
        return self._lease_until - self._clock.now()

    @property
    def next_look(self) -> datetime:
        """When `ending` may have something new to say, or the handler's time to answer it is over."""
        if self._ending is not None:
            return self._answer_by
        return min(self._limit.at, self._active_at + self._timings.stall)

    def ending(self) -> Outcome | None:
        """How the attempt has to end by now, whatever its handler does; None if it may go on.

        The first answer stands, and asks the handler to stop at its next checkpoint.
        """
        with self._lock:
            if self._ending is None and (ending := self._owed()) is not None:
                self._ending = ending
                self._answer_by = self._clock.now() + self._timings.answer_within
                self.must_stop.set()
            return self._ending

    def unanswered(self) -> Outcome | None:
        """The ending that the handler was asked for, and has not come to a checkpoint for in time."""
        ending = self.ending()
        return ending if self._clock.now() >= self._answer_by else None

    def _owed(self) -> Outcome | None:
        now = self._clock.now()
        if self.job.state is State.CANCELLING:
            return ON_REQUEST
        if now >= self._limit.at:
            return Failed(error=self._limit.error)
        if now >= self._active_at + self._timings.stall:
            return Failed(error=stalled(self._timings))
        return None

    def save(self, cursor: str) -> None:
        inline = cursor if len(cursor.encode()) <= INLINE_CURSOR_BYTES else None
        key = None if inline else self._stored_cursor(cursor)
        self._active_at = self._clock.now()
        self._write(lambda seq, now: checkpoint_write(self.job, seq, self._progress, inline, key, now))
        self._advanced = self._advanced or (inline or key) != self._begun_at
        match self.ending():
            case Failed(error=error):
                raise OverLimit(error)
            case Cancelled():
                raise CancelRequested
        if self._clock.now() >= self._yield_at:
            raise YieldRequested

    def report(self, progress: Progress) -> None:
        if self._over:
            raise self._lost()
        self._active_at = self._clock.now()
        self._progress = merged(self._progress, progress)
        if worth_writing(self._written, self._progress, self._clock.now() - self._written_at):
            self._write(lambda seq, now: progress_write(self.job, seq, self._progress, now))

    def wait(self, seconds: float) -> None:
        left = (self._yield_at - self._clock.now()).total_seconds()
        self._clock.wait(self.must_stop, min(seconds, left))

    def stopping(self) -> bool:
        return self.must_stop.is_set()

    def recall(self, step: str) -> str | None:
        row = self._store.get(step_key(self.job.root, step))
        return None if row is None else str(row["result"])

    def remember(self, step: str, result: str) -> str:
        try:
            self._store.write(
                put(step_key(self.job.root, step), {"result": result, "ttl": self.job.ttl}, absent("result"))
            )
        except Refused as refusal:
            return result if refusal.old is None else str(refusal.old["result"])
        self._active_at = self._clock.now()
        return result

    def beat(self, store: Store) -> None:
        """Renew the lease, through the heartbeat's own store, and learn what was asked of the job meanwhile.

        Raises LeaseLost, Unavailable.
        """
        now = self._clock.now()
        self._write_once(store, lambda seq, _: beat_write(self.job, seq, self._progress, now, self._timings))
        self._lease_until = now + self._timings.lease
        self.ending()

    def settle(self, outcome: Outcome, chance: float) -> Job:
        """End the attempt; nothing can be written afterwards. Raises LeaseLost, Unavailable.

        An outcome that would leave the job open, but finds it `cancelling`, becomes `cancelled`.
        """
        if isinstance(outcome, Yielded):
            outcome = Yielded(advanced=self._advanced)
        retry_in = retry_delay(self.job.failures + 1, self._delays, self._timings.retry_jitter_percent, chance)

        def ending(seq: int, now: datetime) -> Update:
            return settle_write(self.job, seq, outcome, self._progress, now, self._timings, retry_in)

        try:
            self._write(ending, settled_by)
        except LeaseLost:
            if not self._asked_to_cancel():
                raise
            outcome = ON_REQUEST
            self._over = False
            self._write(ending, settled_by)
        self._over = True
        return self.job

    def _asked_to_cancel(self) -> bool:
        row = self._store.get(self.job.key)
        return row is not None and owned_by(row, self.job) and row["state"] == State.CANCELLING

    def _stored_cursor(self, cursor: str) -> str:
        """Write a cursor that is too large for the row under a key of its own; the row names it afterwards.

        The key is made of the content, so that an equal cursor is stored once and known again.
        """
        digest = sha256(cursor.encode()).hexdigest()
        key = f"cursors/{self.job.tenant}/{self.job.id}/{digest}"
        with suppress(ObjectExists):
            self._objects.put(key, cursor.encode(), nonce=digest, content_type="application/json")
        return key

    def _write(self, build: Build, mine: Mine = written_by) -> None:
        """Write, and ask a service that does not answer again while the lease lives; beats go on meanwhile."""
        while True:
            try:
                return self._write_once(self._store, build, mine)
            except Unavailable:
                if self.remaining <= ASK_AGAIN:
                    raise
            self._clock.wait(Event(), ASK_AGAIN.total_seconds())

    def _write_once(self, store: Store, build: Build, mine: Mine = written_by) -> None:
        with self._lock:
            if self._over:
                raise self._lost()
            self._seq += 1
            write = build(self._seq, self._clock.now())
            try:
                row = write_or_find(store, write, mine=lambda old: mine(old, write))
            except Refused as refusal:
                raise self._lost() from refusal
            self.job = job_of(row)
            self._written, self._written_at = self.job.progress, self._clock.now()

    def _lost(self) -> LeaseLost:
        self._over = True
        self.must_stop.set()
        return LeaseLost(self.job.id, self.job.attempt)
