"""History entries: each transition says what it was, and is written down once."""

import random
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from coatcheck.caller import Caller
from coatcheck.cancellation import cancel_write
from coatcheck.claim import claim_write
from coatcheck.doorbell import Wake, message_body
from coatcheck.entry import Act, Cause, Entry, entry_key, entry_of, entry_write, moved, note, write_down
from coatcheck.hold import Hold, park_write, take_back_write
from coatcheck.job import Error, Job, Progress, Reason, State, job_of
from coatcheck.memory import MemoryStore
from coatcheck.outcome import Failed, Outcome, Snoozed, Yielded
from coatcheck.queued import requeue_write
from coatcheck.settle import settle_write
from coatcheck.takeover import take_over_write
from coatcheck.transition import TRANSITIONS
from coatcheck.write import Update
from tests.coatcheck.faults import RepeatingStore
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_job, an_owned_job, doorbell, seconds, stored

ACME = Caller(tenant="acme", name="key …abcd")
FAULT = Error(type="Timeout", message="no answer")
OLD_FAULT = Error(type="Timeout", message="of an attempt before")
LATER = NOW + seconds(30)


def written(old: Job, write: Update) -> Entry:
    """The entry of a transition that the product itself makes of a row."""
    return moved(old, job_of(stored(old).write(write)))


def settled(outcome: Outcome, **changes: object) -> Entry:
    old = an_owned_job(error=OLD_FAULT, **changes)
    return written(old, settle_write(old, 1, outcome, Progress(), NOW, TIMINGS, seconds(30)))


def test_a_claim_is_an_entry_of_its_attempt() -> None:
    old = a_job(attempt=3, failures=1, error=OLD_FAULT)
    entry = written(old, claim_write(doorbell(old), "owner-1", NOW, TIMINGS))
    assert entry == Entry(at=NOW, state=State.RUNNING, attempt=3, failures=1, ttl=old.ttl)


def test_a_failure_that_is_tried_again_is_an_entry_with_its_error_and_when() -> None:
    entry = settled(Failed(error=FAULT), failures=1)
    assert (entry.state, entry.attempt, entry.failures) == (State.RETRYING, 2, 2)
    assert (entry.error, entry.retry_at, entry.cause) == (FAULT, LATER, None)


def test_a_retry_that_falls_due_says_so_and_does_not_repeat_the_error() -> None:
    old = a_job(state=State.RETRYING, attempt=2, owner="owner-1", error=FAULT, retry_at=NOW)
    entry = written(old, requeue_write(old, NOW, TIMINGS))
    assert (entry.state, entry.attempt, entry.cause, entry.error) == (State.QUEUED, 2, Cause.RETRY_DUE, None)


def test_a_yield_and_a_snooze_say_what_they_are_and_bring_no_error_of_an_attempt_before() -> None:
    assert settled(Yielded(advanced=True)) == replace(
        settled(Snoozed(delay=seconds(30))), cause=Cause.YIELDED, run_at=None
    )
    snoozed = settled(Snoozed(delay=seconds(30)))
    assert (snoozed.state, snoozed.attempt, snoozed.cause, snoozed.run_at, snoozed.error) == (
        State.QUEUED, 2, Cause.SNOOZED, LATER, None,
    )  # fmt: skip


def test_a_take_over_says_that_the_worker_died() -> None:
    old = an_owned_job(lease_until=NOW - seconds(1), error=OLD_FAULT)
    entry = written(old, take_over_write(old, NOW, TIMINGS))
    assert (entry.state, entry.attempt, entry.failures, entry.cause) == (State.QUEUED, 2, 1, Cause.TAKEN_OVER)
    assert entry.error is not None
    assert entry.error.type == Reason.WORKER_DIED


def test_a_cancellation_names_who_asked_for_it() -> None:
    old = an_owned_job()
    entry = written(old, cancel_write(old, ACME, NOW, TIMINGS))
    assert (entry.state, entry.attempt, entry.by) == (State.CANCELLING, 1, "key …abcd")


@pytest.mark.parametrize("sent", [0, 1])
def test_a_pause_that_parks_a_job_or_takes_it_back_says_what_was_paused_and_by_whom(sent: int) -> None:
    old, hold = a_job(sent=sent), Hold(limiter="pause#tenant#a#b", by="operator-1")
    parked = park_write(old, hold, LATER, TIMINGS)
    entry = written(old, take_back_write(doorbell(old), hold, LATER, TIMINGS) if sent else parked)
    assert entry == Entry(
        at=LATER,
        state=State.QUEUED,
        attempt=1 + sent,
        failures=0,
        by="operator-1",
        act=Act.PAUSED,
        detail="tenant a#b",
        ttl=old.ttl,
    )


def test_a_record_without_an_old_image_is_an_entry_that_does_not_guess_its_cause() -> None:
    assert moved(None, a_job(attempt=2)).cause is None


def test_within_one_attempt_every_state_comes_after_the_ones_that_lead_to_it() -> None:
    for state, targets in TRANSITIONS.items():
        for target in targets:
            raised = state is State.RUNNING and target in (State.QUEUED, State.RETRYING)
            before, after = (a_job(state=each, attempt=1) for each in (state, target))
            later = moved(before, replace(after, attempt=2) if raised else after)
            assert moved(None, before).place < later.place, f"{state} -> {target}"


def a_history() -> list[Entry]:
    """Two attempts and their failures, with a note in between, in order."""
    states = [
        (State.RUNNING, 1),
        (State.RETRYING, 2),
        (State.QUEUED, 2),
        (State.RUNNING, 2),
        (State.CANCELLING, 2),
        (State.CANCELLED, 2),
        (State.QUEUED, 10),
        (State.QUEUED, 11),
    ]
    entries = [
        Entry(at=NOW + seconds(number), state=state, attempt=attempt, failures=0, ttl=1)
        for number, (state, attempt) in enumerate(states)
    ]
    noted = replace(entries[5], at=LATER, by="operator", act=Act.PURGED)
    return [*entries[:6], noted, replace(noted, at=LATER + seconds(1), act=Act.REDRIVEN), *entries[6:]]


def test_records_in_any_order_and_any_number_of_times_leave_one_history_in_order() -> None:
    store = MemoryStore()
    records = a_history() * 3
    random.Random(7).shuffle(records)
    for entry in records:
        write_down(store, JOB_ID, entry)
    assert [entry_of(row) for row in reversed(store.beside(JOB_ID, "history#", 100))] == a_history()
    assert all(one.place < other.place for one, other in pairwise(a_history()))


def test_what_was_written_first_stands() -> None:
    store = MemoryStore()
    entry = moved(None, an_owned_job())
    write_down(store, JOB_ID, entry)
    write_down(store, JOB_ID, replace(entry, failures=4))
    (row,) = store.beside(JOB_ID, "history#", 10)
    assert entry_of(row) == entry


def test_a_lost_answer_is_no_trouble() -> None:
    store = MemoryStore()
    write_down(RepeatingStore(under=store), JOB_ID, moved(None, an_owned_job()))
    assert len(store.rows) == 1


def test_an_act_stands_after_the_state_it_found_and_before_what_followed() -> None:
    job = a_job(state=State.FAILED, attempt=3, failures=5)
    store = MemoryStore()
    for act, now in ((Act.PURGED, NOW), (Act.REDRIVEN, LATER), (Act.PURGED, LATER + seconds(1))):
        store.write(note(job, act, "operator", now, "j_new" if act is Act.REDRIVEN else None))
    rows = [entry_of(row) for row in reversed(store.beside(JOB_ID, "history#", 10))]
    assert [(each.act, each.at, each.by, each.detail) for each in rows] == [
        (Act.PURGED, NOW, "operator", None),
        (Act.REDRIVEN, LATER, "operator", "j_new"),
        (Act.PURGED, LATER + seconds(1), "operator", None),
    ]
    assert moved(None, job).place < rows[0].place < moved(None, replace(job, attempt=4)).place


@pytest.mark.parametrize("entry", [*a_history(), settled(Failed(error=FAULT)), settled(Snoozed(delay=seconds(9)))])
def test_an_entry_survives_its_row_and_its_message(entry: Entry) -> None:
    assert entry_of(entry_write(JOB_ID, entry).row) == entry
    body = message_body(Wake(job_id=JOB_ID, entry=entry))
    assert msgspec.json.decode(body, type=Wake).entry == entry


def test_two_jobs_entries_and_two_moments_acts_have_keys_of_their_own() -> None:
    entries = a_history()
    assert len({entry_key(job_id, entry) for job_id in (JOB_ID, "j_other") for entry in entries}) == 2 * len(entries)
