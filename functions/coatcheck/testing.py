"""Run a kind without AWS: part of the product, but not of the bundle."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from coatcheck.attempt import run_attempt
from coatcheck.context import Identity, JobContext, Source
from coatcheck.endings import Interrupt
from coatcheck.job import Progress
from coatcheck.kind import Handler, kind_of
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Outcome

EPOCH = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(kw_only=True)
class Performed:
    """How a run ended and what it left: cursors (JSON), progress and waits (s) in order, steps, log, objects."""

    outcome: Outcome
    checkpoints: tuple[str, ...]
    progress: tuple[Progress, ...]
    waits: tuple[float, ...]
    steps: dict[str, str]
    log: tuple[tuple[str, dict[str, object]], ...]
    objects: MemoryObjects


def perform(
    handler: Handler,
    args: object,
    *,
    tenant: str = "acme",
    job_id: str = "j_00000000000000000000000000",
    attempt: int = 1,
    as_of: datetime = EPOCH,
    cursor: object | str | None = None,
    steps: dict[str, str] | None = None,
    source: Source | None = None,
    objects: MemoryObjects | None = None,
    at_checkpoint: Callable[[int], Interrupt | None] = lambda _: None,
) -> Performed:
    """Run a kind's function once, on fakes, and say how it ended.

    `args` is the kind's dataclass or its JSON form; `cursor` a dataclass or the JSON text of an earlier checkpoint.
    `at_checkpoint` gets the number of each saved checkpoint (from 1) and may return an Interrupt to stop there.
    Raises LeaseLost if that is the interrupt.
    """
    kind = kind_of(handler)
    if kind is None:
        raise TypeError(f"{handler!r} is not declared with @job")
    lease = _Lease(steps=dict(steps or {}), at_checkpoint=at_checkpoint)
    log = _Log()
    store = objects or MemoryObjects()
    nonces = iter(range(1, 1_000_000))
    context = JobContext(
        identity=Identity(job_id=job_id, root=job_id, tenant=tenant, attempt=attempt, as_of=as_of),
        cursor=cursor if cursor is None or isinstance(cursor, str) else _json(cursor),
        lease=lease,
        objects=store,
        source=lambda: _given(source),
        nonce=lambda: f"nonce-{attempt}-{next(nonces)}",
        log=log,
    )
    outcome = run_attempt(kind, context, _json(args))
    return Performed(
        outcome=outcome,
        checkpoints=tuple(lease.saved),
        progress=tuple(lease.reported),
        waits=tuple(lease.waits),
        steps=lease.steps,
        log=tuple(log.lines),
        objects=store,
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _given(source: Source | None) -> Source:
    if source is None:
        raise ValueError("this kind reads a source: call perform(..., source=Source(url=...))")
    return source


@dataclass(kw_only=True)
class _Lease:
    steps: dict[str, str]
    at_checkpoint: Callable[[int], Interrupt | None]
    saved: list[str] = field(default_factory=list)
    reported: list[Progress] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def save(self, cursor: str) -> None:
        self.saved.append(cursor)
        interrupt = self.at_checkpoint(len(self.saved))
        if interrupt is not None:
            raise interrupt

    def report(self, progress: Progress) -> None:
        self.reported.append(progress)

    def wait(self, seconds: float) -> None:
        """No test waits: it looks at how long a kind would have."""
        self.waits.append(seconds)

    def recall(self, step: str) -> str | None:
        return self.steps.get(step)

    def remember(self, step: str, result: str) -> str:
        return self.steps.setdefault(step, result)

    def stopping(self) -> bool:
        return False


@dataclass(kw_only=True)
class _Log:
    lines: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def info(self, message: str, /, **fields: object) -> None:
        self.lines.append((message, fields))

    def warning(self, message: str, /, **fields: object) -> None:
        self.lines.append((message, fields))
