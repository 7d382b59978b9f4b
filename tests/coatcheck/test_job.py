"""A job and its row."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import Error, Job, Progress, State, StoredResult, Wrote, job_of, row_of
from coatcheck.limits import MOST_ITEM_BYTES, ItemTooLarge
from coatcheck.memory import MemoryStore
from coatcheck.outcome import Failed
from coatcheck.row import encoded, encoded_row, milliseconds, moment
from coatcheck.run.lease import INLINE_CURSOR_BYTES
from coatcheck.submission import INLINE_ARGS_BYTES
from coatcheck.text import rfc3339
from coatcheck.write import Put, update
from tests.coatcheck.attempts import Attempt
from tests.coatcheck.rows import NOW, a_job, an_owned_job, seconds

FULL = an_owned_job(
    labels={"team": "tax", "unused": ""},
    run_at=NOW,
    retry_at=NOW,
    finished_at=NOW,
    ran=timedelta(milliseconds=1500),
    progress=Progress(done=1, total=2, stage="exporting"),
    cursor="{}",
    cursor_key="cursors/acme/x",
    error=Error(type="Timeout", message="no answer", retryable=False),
    result=StoredResult(key="k", version="v", bytes=0, content_type="text/plain", rows=0),
    cancelled_by="key …abcd",
    waiting="pause#kind#probe",
    cap_value="a-digest",
    waits_since=NOW,
    paused_by="operator",
    retry_of="j_before",
    retried_as="j_after",
    freed=True,
    told=True,
    wrote=Wrote.BEAT,
)


def test_every_attribute_of_a_job_survives_its_row() -> None:
    row = row_of(FULL)
    assert job_of(row) == FULL
    assert set(row) == {each.name for each in fields(Job)} | {"due_shard"}
    assert json.loads(json.dumps(row)) == row


def test_what_is_not_there_is_absent_from_the_row_and_zero_stays_zero() -> None:
    row = row_of(a_job(due=None))
    assert {"due", "owner", "lease_until", "cursor", "result", "error"} & set(row) == set()
    assert (row["sent"], row["failures"], row["freed"], row["ran"]) == (0, 0, False, 0)


def test_attributes_of_a_later_version_are_passed_over() -> None:
    assert job_of(row_of(FULL) | {"weight": 3, "waits_for": "tenant"}) == FULL


@given(at=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))  # noqa: DTZ001  # hypothesis adds the zone itself
def test_times_keep_their_milliseconds(at: datetime) -> None:
    aware = at.replace(tzinfo=UTC)
    assert timedelta(0) <= aware - moment(milliseconds(aware)) < timedelta(milliseconds=1)
    assert rfc3339(moment(milliseconds(aware))) == rfc3339(aware)  # a document is the same before and after a write
    assert milliseconds(moment(milliseconds(aware))) == milliseconds(aware)


@pytest.mark.parametrize("value", [1.5, float("nan"), b"bytes", {1, 2}, object(), None])
def test_a_row_refuses_what_a_table_could_not_keep_exactly(value: object) -> None:
    with pytest.raises(TypeError, match="a row cannot hold"):
        encoded(value)


def test_maps_in_a_row_have_no_gaps_and_lists_keep_their_order() -> None:
    row = encoded_row({"map": {"there": 0, "absent": None}, "list": ("b", "a"), "state": State.QUEUED, "none": None})
    assert row == {"map": {"there": 0}, "list": ["b", "a"], "state": "queued"}


def test_an_update_removes_what_became_none() -> None:
    write = update(FULL.key, (), {"cursor": None, "attempt": 2, "due": NOW})
    assert (write.remove, write.set) == (frozenset({"cursor"}), {"attempt": 2, "due": milliseconds(NOW)})


def test_the_largest_job_that_can_come_about_is_small_enough_for_every_poll_to_read() -> None:
    largest = replace(
        FULL,
        tenant="t" * 64,
        args="a" * INLINE_ARGS_BYTES,
        cursor="c" * INLINE_CURSOR_BYTES,
        cursor_key=None,
        failures=4,
        progress=Progress(done=2**53, total=2**53, stage="s" * 128),
        result=None,
        freed=False,
        state=State.RUNNING,
    )
    at = Attempt(job=largest)
    at.lease.settle(Failed(error=Error(type="T" * 128, message="m" * 1024)), 0.5)
    assert at.row.state is State.FAILED
    size = sum(len(str(name).encode()) + len(str(value).encode()) for name, value in at.store.rows[largest.key].items())
    assert size <= 4096


def test_the_fake_refuses_an_item_that_dynamodb_would_refuse() -> None:
    store = MemoryStore()
    row = row_of(a_job(args="a" * MOST_ITEM_BYTES))
    with pytest.raises(ItemTooLarge):
        store.write(Put(key=a_job().key, row=row))
    assert store.rows == {}


def test_times_are_utc_whatever_zone_they_came_in() -> None:
    india = NOW.astimezone(ZoneInfo("Asia/Kolkata"))
    assert moment(milliseconds(india)) == NOW
    assert moment(milliseconds(india) + 1) == NOW + seconds(0.001)
    assert moment(0).tzinfo is UTC
