"""Waits that are longer than a lease: they are in the row, nobody holds a message meanwhile, and each ends once."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from coatcheck.claim import Claimed, claim
from coatcheck.job import State
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.ring import ring
from coatcheck.supervisor import supervise
from tests.coatcheck.rows import NOW, TIMINGS, a_bell, a_job, job_in, seconds, stored
from tests.coatcheck.submits import asked

MINUTE = timedelta(minutes=1)


def minutes(store: MemoryStore, queues: MemoryQueues, number: int) -> Iterator[datetime]:
    """The time, minute by minute; in each the supervisor makes its round, as often as it finds something."""
    for minute in range(number):
        now = NOW + minute * MINUTE
        while supervise(a_bell(store, queues), lambda now=now: now, now + seconds(1)):  # type: ignore[misc]
            pass
        yield now


def starts(store: MemoryStore, queues: MemoryQueues, now: datetime) -> int:
    """Deliver each doorbell twice: how often its job starts."""
    claims = [claim(store, bell, f"owner-{n}", now, TIMINGS) for n, (_, bell) in enumerate(queues.rung * 2)]
    return sum(isinstance(each, Claimed) for each in claims)


def test_a_job_for_later_waits_with_no_worker_and_starts_once_when_its_time_has_come() -> None:
    store, queues = MemoryStore(), MemoryQueues()
    run_at = NOW + 20 * MINUTE  # more than a message can be delayed, and more than a lease
    job = asked(store, run_at=run_at.isoformat()).job
    ring(a_bell(store, queues), job.id, NOW)
    for now in minutes(store, queues, 21):
        assert (queues.rung == []) is (now < run_at)
    assert len(queues.rung) == 1
    assert starts(store, queues, run_at) == 1


def test_a_long_retry_whose_message_is_lost_half_way_starts_once_and_not_early() -> None:
    retry_at = NOW + 8 * MINUTE
    job = a_job(state=State.RETRYING, attempt=2, failures=3, sent=1, retry_at=retry_at, due=NOW + MINUTE)
    store, queues = stored(job), MemoryQueues()
    ring(a_bell(store, queues), job.id, NOW)
    assert queues.woken == [(job.id, 8 * MINUTE)]
    queues.woken.clear()  # whoever had it was killed
    for now in minutes(store, queues, 11):
        assert now >= retry_at or queues.rung == []
    assert [bell.attempt for _, bell in queues.rung] == [2]
    assert starts(store, queues, now) == 1
    assert job_in(store).failures == 3
