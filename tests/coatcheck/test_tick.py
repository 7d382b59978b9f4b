"""Ticks: one job each, however often, late or at once they fire, and whatever was edited since."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.caller import Caller
from coatcheck.job import State
from coatcheck.memory import MemoryStore
from coatcheck.problem import BadRequest, Conflict, Gone
from coatcheck.schedule_record import Record
from coatcheck.store import Unavailable
from coatcheck.tick import Taken, Tick, note_refusal
from tests.coatcheck.faults import RepeatingStore, losing
from tests.coatcheck.rows import NOW, TIMINGS, seconds
from tests.coatcheck.submits import asked, at_once, jobs_in, keys_in, move
from tests.coatcheck.ticks import ALONE, HOUR, NIGHTLY, at, by_hand, job_of_tick, record, taken

pytestmark = pytest.mark.usefixtures("kinds")


def test_a_tick_becomes_a_job_that_says_where_it_comes_from() -> None:
    store = MemoryStore()
    one = taken(store, late=seconds(42))
    job = job_of_tick(store, one)
    assert (job.tenant, job.kind, job.requested_by) == ("acme", "probe", "schedule nightly")
    assert job.labels == {"schedule": "nightly", "tick": "2026-11-10T12:00:00Z"}
    seen = record(store)
    assert (seen.last_tick, seen.last_job, seen.holder, seen.skipped) == (NOW, job.id, job.id, 0)


def test_twenty_firings_of_a_tick_at_once_are_one_job() -> None:
    store = MemoryStore()
    results = at_once(20, lambda _: taken(store))
    (job,) = jobs_in(store)
    assert [each.job_id for each in results] == [job.id] * 20
    assert sum(not each.before for each in results) == 1


@pytest.mark.parametrize("late", [seconds(1), seconds(61), 3 * HOUR, timedelta(days=6, hours=23)])
@pytest.mark.parametrize("state", [State.QUEUED, State.SUCCEEDED])
def test_a_tick_that_fires_again_is_the_same_job(late: timedelta, state: State) -> None:
    store = MemoryStore()
    first = taken(store)
    move(store, job_of_tick(store, first), state)
    assert taken(store, late=late) == Taken(job_id=first.job_id, before=True)
    assert len(jobs_in(store)) == 1


@pytest.mark.parametrize(
    "edit",
    [
        {"request": {"kind": "probe", "args": {"steps": 3}}},
        {"request": {"kind": "monthly-report", "args": {"seller_id": "48812"}}},
        {"request": {"kind": "gone"}},
        {"tenant": "globex"},
        {"overlap": False},
    ],
)
def test_a_tick_that_fires_again_after_its_schedule_was_edited_is_the_same_job(edit: dict[str, Any]) -> None:
    store = MemoryStore()
    first = taken(store)
    assert taken(store, replace(NIGHTLY, **edit), late=seconds(61)) == Taken(job_id=first.job_id, before=True)
    assert len(jobs_in(store)) == 1


def test_each_tick_and_each_schedule_has_its_own_job() -> None:
    store = MemoryStore()
    a_minute_later = replace(NIGHTLY, scheduled_time=NIGHTLY.scheduled_time + seconds(60))
    ticks = [NIGHTLY, a_minute_later, at(NIGHTLY, 1), at(NIGHTLY, 2), replace(NIGHTLY, schedule="hourly")]
    assert len({taken(store, tick).job_id for tick in ticks}) == len(jobs_in(store)) == 5


def test_a_late_tick_makes_its_own_job_and_no_newer_one_is_forgotten() -> None:
    store = MemoryStore()
    newer = taken(store, at(NIGHTLY, 2))
    older = taken(store, NIGHTLY, late=3 * HOUR)
    assert len(jobs_in(store)) == 2
    seen = record(store)
    assert (seen.last_tick, seen.last_job) == (NOW + 2 * HOUR, newer.job_id)
    assert seen.holder == older.job_id


def test_a_tick_that_comes_when_nobody_knows_any_more_whether_it_was_taken_is_refused() -> None:
    store = MemoryStore()
    first = taken(store, late=HOUR)
    for late in (timedelta(days=7) - seconds(1), timedelta(days=7)):
        (row,) = [row for key, row in keys_in(store).items() if key.id.startswith("tick#")]
        assert isinstance(row["ttl"], int)
        assert row["ttl"] > (NOW + late).timestamp()
    assert taken(store, late=timedelta(days=7) - seconds(1)).job_id == first.job_id
    with pytest.raises(Gone, match="coatcheck schedules run nightly"):
        taken(MemoryStore(), late=timedelta(days=7))


def test_no_key_of_a_client_is_a_ticks_key() -> None:
    store = MemoryStore()
    tick = taken(store)
    for key in (NIGHTLY.key.id, "nightly", f"key#{NIGHTLY.key.id}"):
        asked(store, {}, key=key, caller=Caller(tenant="acme", name="key …abcd"))
    assert len(jobs_in(store)) == 4
    assert taken(store) == Taken(job_id=tick.job_id, before=True)


def test_a_run_by_hand_is_one_job_however_often_the_call_is_repeated_and_no_tick() -> None:
    store = MemoryStore()
    tick = taken(store)
    later = NOW + seconds(5)
    first = taken(store, by_hand("n1", scheduled_time=later))
    assert taken(store, by_hand("n1", scheduled_time=later + seconds(5))) == Taken(job_id=first.job_id, before=True)
    second = taken(store, by_hand("n2", scheduled_time=later))
    assert len({tick.job_id, first.job_id, second.job_id}) == len(jobs_in(store)) == 3
    job = job_of_tick(store, first)
    assert (job.labels, job.requested_by) == ({"schedule": "nightly"}, "ops, by hand for the schedule nightly")
    seen = record(store)
    assert (seen.last_tick, seen.last_job, seen.holder) == (NOW, tick.job_id, second.job_id)


def test_a_tick_that_cannot_be_taken_says_why_until_a_newer_one_became_a_job() -> None:
    store = MemoryStore()
    bad = replace(at(NIGHTLY, 1), request={"kind": "probe", "args": {"stepps": 3}})
    with pytest.raises(BadRequest) as refused:
        taken(store, bad)
    note_refusal(store, bad, refused.value, NOW + HOUR, TIMINGS)
    seen = record(store)
    assert seen.refused == NOW + HOUR
    assert "/args/stepps" in str(seen.reason)
    taken(store, NIGHTLY, late=2 * HOUR)
    assert record(store).refused == NOW + HOUR
    taken(store, at(NIGHTLY, 2))
    assert (record(store).refused, record(store).reason) == (None, None)
    note_refusal(store, bad, refused.value, NOW + 3 * HOUR, TIMINGS)
    assert record(store).refused is None
    assert jobs_in(store)[0].kind == "probe"


def test_a_tick_that_was_refused_becomes_its_job_once_it_can() -> None:
    store = MemoryStore()
    bad = replace(NIGHTLY, request={"kind": "probe", "args": {"stepps": 3}})
    with pytest.raises(BadRequest) as refused:
        taken(store, bad)
    note_refusal(store, bad, refused.value, NOW, TIMINGS)
    assert taken(store, NIGHTLY, late=seconds(61)).job_id is not None
    assert record(store).refused is None


SELLER = {"kind": "monthly-report", "args": {"seller_id": "48812", "period": "2026-10"}}


def test_a_tick_joins_the_open_job_that_has_its_natural_key() -> None:
    store = MemoryStore()
    opened = asked(store, SELLER["args"], kind="monthly-report").job  # type: ignore[arg-type]  # a mapping
    tick = replace(ALONE, request=SELLER)
    assert taken(store, tick) == Taken(job_id=opened.id)
    assert taken(store, tick, late=HOUR) == Taken(job_id=opened.id, before=True)
    assert record(store).last_job == opened.id
    move(store, opened, State.SUCCEEDED)
    assert taken(store, at(tick, 1)).job_id not in (None, opened.id)


def test_a_tick_whose_natural_key_an_open_job_with_other_args_holds_is_refused() -> None:
    store = MemoryStore()
    opened = asked(store, SELLER["args"] | {"note": "for the auditor"}, kind="monthly-report").job  # type: ignore[operator]
    with pytest.raises(Conflict, match=opened.id):
        taken(store, replace(NIGHTLY, request=SELLER))
    assert [key.id for key in keys_in(store) if key.id.startswith("tick#")] == []


@pytest.mark.parametrize("tick", [NIGHTLY, ALONE])
def test_a_tick_whose_answer_was_lost_is_one_job(tick: Tick) -> None:
    store = MemoryStore()
    first = taken(RepeatingStore(under=store), tick)
    with pytest.raises(Unavailable):
        taken(losing(store, "after", 1), at(tick, 1))
    again = taken(store, at(tick, 1))
    assert again.before
    assert len(jobs_in(store)) == (2 if tick.overlap else 1)
    assert first.job_id in {job.id for job in jobs_in(store)}
    assert record(store).skipped == (0 if tick.overlap else 1)


def test_a_tick_leaves_nothing_half_done_when_the_store_fails() -> None:
    store = MemoryStore()
    with pytest.raises(Unavailable):
        taken(losing(store, "before", 1))
    assert not store.rows
    assert taken(store).job_id is not None


def test_a_record_outlives_a_year_and_a_forgotten_one_begins_anew() -> None:
    store = MemoryStore()
    taken(store, ALONE)
    assert record(store, after=timedelta(days=366)).last_tick == NOW
    assert record(store, after=timedelta(days=401)) == Record(version=1)
    assert taken(store, at(ALONE, 401 * 24)).job_id is not None
