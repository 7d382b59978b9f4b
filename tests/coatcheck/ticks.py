"""Ticks of a schedule as tests fire them, and what became of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from coatcheck.job import Job, job_key, job_of
from coatcheck.memory import MemoryStore
from coatcheck.schedule_record import Record, record_of
from coatcheck.store import Store
from coatcheck.tick import ByHand, Taken, Tick, take
from tests.coatcheck.rows import NOW
from tests.coatcheck.submits import TERMS

HOUR = timedelta(hours=1)
NIGHTLY = Tick(schedule="nightly", scheduled_time=NOW, tenant="acme", request={"kind": "probe", "args": {}})
ALONE = replace(NIGHTLY, overlap=False)


def at(tick: Tick, hours: int) -> Tick:
    return replace(tick, scheduled_time=NOW + hours * HOUR)


def taken(store: Store, tick: Tick = NIGHTLY, *, late: timedelta = timedelta(0)) -> Taken:
    return take(store, TERMS, tick, max(NOW, tick.scheduled_time) + late)


def job_of_tick(store: MemoryStore, one: Taken) -> Job:
    assert one.job_id is not None
    return job_of(store.rows[job_key(one.job_id)])


def record(store: Store, *, after: timedelta = 9 * HOUR) -> Record:
    return record_of(store, "nightly", NOW + after)


def by_hand(nonce: str, **changes: Any) -> ByHand:
    hand = ByHand(
        schedule="nightly", scheduled_time=NOW, tenant="acme", request=NIGHTLY.request, nonce=nonce, operator="ops"
    )
    return replace(hand, **changes)
