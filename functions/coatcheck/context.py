"""What a job's function works with: its checkpoint, progress, output, steps and the time that it stands for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Protocol, TypeVar

import msgspec

from coatcheck.job import MOST_COUNT, MOST_STAGE_BYTES, Progress
from coatcheck.objects import Objects
from coatcheck.output import Output, Upload
from coatcheck.text import cut

C = TypeVar("C")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Source:
    """The database that kinds read from, and the pace at which one worker may read it; None is unpaced."""

    url: str
    rows_per_second: int | None = None


class Log(Protocol):
    """A structured log; job id, attempt and tenant are already in it."""

    def info(self, message: str, /, **fields: object) -> None: ...

    def warning(self, message: str, /, **fields: object) -> None: ...


class Lease(Protocol):
    """An attempt's hold on its job. Every call may raise an Interrupt."""

    def save(self, cursor: str) -> None:
        """Save a cursor, and raise the interrupt that the attempt owes."""

    def report(self, progress: Progress) -> None:
        """Take note of the progress; it is written now and then."""

    def wait(self, seconds: float) -> None:
        """Return after some seconds, or as soon as the attempt must stop."""

    def recall(self, step: str) -> str | None:
        """The remembered result of a step."""

    def remember(self, step: str, result: str) -> str:
        """Remember a step's result, unless one is remembered; return the one that counts."""

    def stopping(self) -> bool:
        """Whether the job was cancelled, or is no longer this attempt's."""


class DuplicateStep(Exception):
    """Two steps of one job have the same name, so the second would get the first one's result."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the step {name!r} ran already in this attempt: give each step a name of its own")
        self.name = name


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which attempt of which job this is; `root` is the first job of a chain of redrives."""

    job_id: str
    root: str
    tenant: str
    attempt: int
    as_of: datetime


class JobContext:
    """A job's function gets one as its first argument."""

    def __init__(
        self,
        *,
        identity: Identity,
        cursor: str | None,
        lease: Lease,
        objects: Objects,
        source: Callable[[], Source],
        nonce: Callable[[], str],
        log: Log,
    ) -> None:
        self.job_id = identity.job_id
        self.tenant = identity.tenant
        self.attempt = identity.attempt
        self.as_of = identity.as_of
        """What the job sees of the world: the same moment in every attempt."""

        self.log = log
        self._root = identity.root
        self._cursor = cursor
        self._lease = lease
        self._objects = objects
        self._source = source
        self._nonce = nonce
        self._steps: set[str] = set()

    @property
    def source(self) -> Source:
        """The database that the deployment names as its source."""
        return self._source()

    @property
    def cancel_requested(self) -> bool:
        """Whether the job should stop. Checkpoints ask by themselves; this is for long work between them."""
        return self._lease.stopping()

    def resume(self, start: C) -> C:
        """The cursor of the last checkpoint, as a value of the type of `start`; `start` itself in a first attempt."""
        if self._cursor is None:
            return start
        return msgspec.json.decode(self._cursor.encode(), type=type(start))

    def checkpoint(self, cursor: object) -> None:
        """Save where the next attempt goes on, and stop here if the job must stop.

        The work between two checkpoints may happen twice, so it must be idempotent. The cursor is any JSON-able
        value: a frozen dataclass, best. Raises an Interrupt, which a handler lets pass.
        """
        self._lease.save(msgspec.json.encode(cursor).decode())

    def progress(self, *, done: int, total: int | None = None, stage: str | None = None) -> None:
        """Say how far the job is. Cheap: call it as often as you like. It never goes back.

        Raises ValueError for what is no count.
        """
        counts: tuple[object, ...] = (done,) if total is None else (done, total)
        if not all(isinstance(count, int) and 0 <= count <= MOST_COUNT for count in counts):
            raise ValueError(f"progress counts in whole numbers from 0 on, not done={done!r}, total={total!r}")
        stage = None if stage is None else cut(stage, MOST_STAGE_BYTES)
        self._lease.report(Progress(done=done, total=total, stage=stage))

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than until the job must stop; go on to the next checkpoint then."""
        self._lease.wait(seconds)

    def step(self, name: str, function: Callable[..., T], *args: object) -> T:
        """Call a function once over all attempts and remember its result, a JSON-able value.

        A worker that dies between the call and the note of it calls again: give side effects a `key`.
        Raises DuplicateStep.
        """
        if name in self._steps:
            raise DuplicateStep(name)
        self._steps.add(name)
        remembered = self._lease.recall(name)
        if remembered is None:
            remembered = self._lease.remember(name, msgspec.json.encode(function(*args)).decode())
        result: T = msgspec.json.decode(remembered.encode())
        return result

    def key(self, name: str) -> str:
        """An idempotency key for a side effect: the same in every attempt and after a redrive."""
        return sha256(f"{self._root}\n{name}".encode()).hexdigest()

    def output(
        self, name: str, *, content_type: str = "application/octet-stream", resume: Upload | None = None
    ) -> Output:
        """A stream into the results bucket. With `resume`, it goes on in an earlier attempt's upload."""
        return Output(
            self._objects, f"{output_prefix(self.tenant, self._root)}{name}", content_type, self._nonce, resume
        )


def output_prefix(tenant: str, root: str) -> str:
    """Where the output of a job and of its redrives lies: a second run overwrites instead of duplicating."""
    return f"results/{tenant}/{root}/"
