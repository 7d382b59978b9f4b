"""A worker: from a doorbell to a settled attempt."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from coatcheck.attempt import described, run_attempt
from coatcheck.claim import Claimed, NotClaimed, Undecided, claim
from coatcheck.context import Identity, JobContext, Log, Source
from coatcheck.doorbell import Doorbell, Message
from coatcheck.endings import LeaseLost
from coatcheck.hold import Holding, take_back_write
from coatcheck.idempotency import args_of
from coatcheck.job import Job
from coatcheck.kind import Kind
from coatcheck.objects import Objects
from coatcheck.outcome import Failed, Outcome
from coatcheck.registry import BrokenKind, UnknownKind, find
from coatcheck.run.clock import Clock
from coatcheck.run.heartbeat import Heartbeat
from coatcheck.run.lease import HeldLease
from coatcheck.run.threads import REAL_THREADS, Threads
from coatcheck.run.watchdog import Watchdog
from coatcheck.store import Refused, Store, Unavailable
from coatcheck.timings import Timings


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What a worker works with. The heartbeat's store has clients of its own, with short timeouts."""

    store: Store
    beat_store: Store
    objects: Objects
    holding: Holding
    lane: str
    source: Callable[[], Source]
    timings: Timings
    clock: Clock
    watchdog: Watchdog
    token: Callable[[], str]
    """Makes owners and nonces, each one once."""

    chance: Callable[[], float]
    end_process: Callable[[], None]
    log: Log
    threads: Threads = REAL_THREADS


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A doorbell as it was received: the `receives`-th time, by an invocation that ends at `deadline`."""

    doorbell: Doorbell
    message: Message
    beat_message: Message
    receives: int
    deadline: datetime


class Missing(Exception):
    """The row names something that is not there."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"the {what} of the job are gone: {where}")
        self.what = what
        self.where = where


def work(desk: Desk, delivery: Delivery) -> bool:
    """Claim, run and settle the attempt that a doorbell names, unless it is paused.

    False if the message must come back.
    """
    try:
        if _taken_back(desk, delivery.doorbell):
            return True
    except Unavailable:
        return _give_back(desk, delivery)
    kind = _kind(delivery.doorbell.kind)
    if isinstance(kind, UnknownKind):
        desk.log.warning("this version does not know the kind")
        return _give_back(desk, delivery)
    match claim(desk.store, delivery.doorbell, desk.token(), desk.clock.now(), desk.timings):
        case Undecided():
            return _give_back(desk, delivery)
        case NotClaimed(old=old):
            desk.log.info("a stale doorbell", state=old.state if old else None)
            return True
        case Claimed(job=job):
            return _attend(desk, delivery, job, kind)


def _taken_back(desk: Desk, doorbell: Doorbell) -> bool:
    """Whether a pause took the doorbell's number back: not that of a stale one. Raises Unavailable."""
    now = desk.clock.now()
    hold = desk.holding(doorbell.kind, desk.lane, doorbell.tenant, now, None)
    if hold is None:
        return False
    try:
        desk.store.write(take_back_write(doorbell, hold, now, desk.timings))
    except Refused:
        return False
    desk.log.info("paused", limiter=hold.limiter, paused_by=hold.by)
    return True


def _kind(name: str) -> Kind | UnknownKind | BrokenKind:
    try:
        return find(name)
    except (UnknownKind, BrokenKind) as error:
        return error


def _give_back(desk: Desk, delivery: Delivery) -> bool:
    """Hide the message for longer with each receive, and let it come back; nobody is charged."""
    doubled = desk.timings.give_back * 2 ** min(delivery.receives - 1, 10)
    try:
        delivery.message.hide(min(doubled, desk.timings.give_back_limit))
    except Unavailable as error:
        desk.log.warning("the message could not be given back early", code=error.code)
    return False


def _attend(desk: Desk, delivery: Delivery, job: Job, kind: Kind | BrokenKind) -> bool:
    """Hold the lease while the handler runs. The heartbeat is joined before the attempt is settled."""
    lease = HeldLease(
        job=job,
        store=desk.store,
        objects=desk.objects,
        clock=desk.clock,
        timings=desk.timings,
        yield_at=delivery.deadline - desk.timings.yield_before,
        delays=_delays(kind, desk.timings),
        threads=desk.threads,
    )
    desk.watchdog.arm(lease.remaining)
    heartbeat = Heartbeat(
        lease=lease,
        store=desk.beat_store,
        message=delivery.beat_message,
        watchdog=desk.watchdog,
        clock=desk.clock,
        timings=desk.timings,
        hard_stop_at=delivery.deadline - desk.timings.hard_stop_before,
        end_process=desk.end_process,
        log=desk.log,
        threads=desk.threads,
    )
    heartbeat.hide()
    heartbeat.start()
    try:
        outcome = _run(desk, job, kind, lease, heartbeat)
        settled = lease.settle(outcome, desk.chance())
    except LeaseLost:
        desk.log.warning("the job is somebody else's now")
        return True
    except Unavailable as error:
        desk.log.warning("the attempt could not be settled: its lease will expire", code=error.code)
        return False
    finally:
        desk.watchdog.cancel()
    desk.log.info("settled", outcome=type(outcome).__name__, state=settled.state, ran_ms=_ms(settled.ran))
    return True


def _run(desk: Desk, job: Job, kind: Kind | BrokenKind, lease: HeldLease, heartbeat: Heartbeat) -> Outcome:
    try:
        if isinstance(kind, BrokenKind):
            return Failed(error=described(kind, retryable=True))
        return run_attempt(kind, _context(desk, job, lease), _args(desk.store, job))
    except (Unavailable, Missing) as error:
        return Failed(error=described(error, retryable=True))
    finally:
        heartbeat.stop()


def _context(desk: Desk, job: Job, lease: HeldLease) -> JobContext:
    return JobContext(
        identity=Identity(
            job_id=job.id,
            root=job.root,
            tenant=job.tenant,
            attempt=job.attempt,
            as_of=job.as_of or desk.clock.now(),
        ),
        cursor=job.cursor if job.cursor_key is None else _cursor(desk.objects, job.cursor_key),
        lease=lease,
        objects=desk.objects,
        source=desk.source,
        nonce=desk.token,
        log=desk.log,
    )


def _cursor(objects: Objects, key: str) -> str:
    data = objects.get(key)
    if data is None:
        raise Missing("cursor", key)
    return data.decode()


def _args(store: Store, job: Job) -> str:
    args = args_of(store, job)
    if args is None:
        raise Missing("args", job.id)
    return args


def _delays(kind: Kind | BrokenKind, timings: Timings) -> tuple[timedelta, ...]:
    return (kind.retry.delays if isinstance(kind, Kind) else None) or timings.retry_delays


def _ms(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)
