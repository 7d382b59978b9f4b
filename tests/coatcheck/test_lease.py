"""A held lease: what an attempt writes, and when it must stop."""

import json
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.endings import CancelRequested, LeaseLost, YieldRequested
from coatcheck.job import Error, Progress, Reason, State
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.row import Row
from coatcheck.store import Refused, Unavailable
from coatcheck.write import Write
from tests.coatcheck.attempts import Attempt
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, TIMINGS, an_owned_job, seconds, stored

SUCCESS = Succeeded(result=Result(rows=1))
TRANSIENT = Failed(error=Error(type="Timeout", message="no answer"))
LARGE = json.dumps({"parts": "x" * 2000})
MIDDLE = 0.5


def cancelling(at: Attempt) -> None:
    at.store.rows[at.job.key]["state"] = State.CANCELLING.value


def test_a_checkpoint_is_in_the_row_when_it_returns_and_does_not_renew_the_lease() -> None:
    at = Attempt()
    at.clock.advance(7)
    at.lease.save('{"done":7}')
    assert (at.row.cursor, at.row.cursor_key, at.row.seq) == ('{"done":7}', None, 1)
    assert at.row.lease_until == at.job.lease_until


def test_a_cursor_too_large_for_the_row_goes_to_the_bucket_before_the_row_names_it() -> None:
    at = Attempt()
    at.lease.save('{"done":7}')
    at.lease.save(LARGE)
    assert at.row.cursor is None
    assert at.row.cursor_key is not None
    assert at.row.cursor_key.startswith(f"cursors/acme/{at.job.id}/")
    assert at.objects.get(at.row.cursor_key) == LARGE.encode()
    at.lease.save('{"done":9}')
    after = at.row
    assert (after.cursor, after.cursor_key) == ('{"done":9}', None)


def test_an_equal_large_cursor_is_stored_once_also_when_its_answer_was_lost() -> None:
    class Forgetful(MemoryObjects):
        def put(self, key: str, data: bytes, **how: Any) -> None:
            super().put(key, data, **how)
            super().put(key, data, **how)

    at = Attempt(objects=Forgetful())
    at.lease.save(LARGE)
    at.lease.save(LARGE)
    assert list(at.objects.versions.values()) == [1]


def test_a_checkpoint_survives_the_failure_of_its_attempt() -> None:
    at = Attempt()
    at.lease.save('{"done":9900}')
    at.lease.report(Progress(done=9950))
    job = at.lease.settle(TRANSIENT, MIDDLE)
    assert (job.state, job.cursor, job.progress.done) == (State.RETRYING, '{"done":9900}', 9950)


def test_each_write_has_a_higher_number_than_the_one_before() -> None:
    at = Attempt(job=an_owned_job(seq=0))
    numbers = []
    at.lease.save("1")
    numbers.append(at.row.seq)
    at.lease.beat(at.store)
    numbers.append(at.row.seq)
    at.lease.settle(SUCCESS, MIDDLE)
    numbers.append(at.row.seq)
    assert numbers == [1, 2, 3]


def test_a_packet_that_arrives_after_a_newer_one_changes_nothing() -> None:
    class Slow(FailingStore):
        held: Write | None = None

        def write(self, write: Write) -> Row:
            if self.held is None:
                self.held = write
                raise Unavailable("ReadTimeoutError")
            return super().write(write)

    store = stored(an_owned_job())
    slow = Slow(under=store)
    at = Attempt(store=store, through=slow)
    at.lease.save('{"done":1}')
    at.lease.save('{"done":2}')
    before = at.row
    assert slow.held is not None
    with pytest.raises(Refused):
        store.write(slow.held)
    assert at.row == before


def test_a_beat_renews_the_lease_from_the_moment_it_was_sent_and_flushes_the_progress() -> None:
    class Slow(FailingStore):
        def write(self, write: Write) -> Row:
            at.clock.advance(4)
            return super().write(write)

    at = Attempt()
    at.lease.report(Progress(done=1, total=1000))
    at.clock.advance(30)
    at.lease.beat(Slow(under=at.store))
    assert at.row.lease_until == NOW + seconds(30) + TIMINGS.lease
    assert at.row.progress == Progress(done=1, total=1000)
    assert at.row.due == at.job.due
    assert at.lease.remaining == TIMINGS.lease - seconds(4)  # the watchdog goes by this, and others by the row


def test_progress_is_written_when_a_poller_would_see_it_and_no_oftener() -> None:
    at = Attempt(through=(counting := FailingStore(under=stored(an_owned_job()))))
    for done in range(1, 1001):
        at.clock.advance(0.1)
        at.lease.report(Progress(done=done, total=1000))
    assert len(counting.calls) == 50


def test_progress_never_goes_back_over_attempts_and_reports() -> None:
    at = Attempt(job=an_owned_job(progress=Progress(done=500, total=1000, stage="exporting")))
    at.clock.advance(3)
    at.lease.report(Progress(done=480))
    at.lease.beat(at.store)
    assert at.row.progress == Progress(done=500, total=1000, stage="exporting")
    at.lease.report(Progress(done=520))
    at.lease.save("1")
    assert at.row.progress.done == 520


def test_a_checkpoint_shortly_before_the_functions_end_is_saved_and_asks_the_job_to_stop_there() -> None:
    at = Attempt(yields_in=seconds(100))
    at.lease.save('{"done":1}')
    at.clock.advance(100)
    with pytest.raises(YieldRequested):
        at.lease.save('{"done":2}')
    assert at.row.cursor == '{"done":2}'
    assert at.lease.settle(Yielded(advanced=True), MIDDLE).state is State.QUEUED


@pytest.mark.parametrize("cursor", ['{"done":5}', LARGE], ids=["small", "large"])
def test_a_yield_that_has_not_moved_on_since_the_attempt_began_is_a_failure(cursor: str) -> None:
    first = Attempt()
    first.lease.save(cursor)
    first.lease.settle(Yielded(advanced=True), MIDDLE)
    again = an_owned_job(attempt=2, cursor=first.row.cursor, cursor_key=first.row.cursor_key)
    at = Attempt(job=again, objects=first.objects, yields_in=seconds(0))
    with pytest.raises(YieldRequested):
        at.lease.save(cursor)
    job = at.lease.settle(Yielded(advanced=True), MIDDLE)
    assert (job.state, job.failures) == (State.RETRYING, 1)
    assert job.error is not None
    assert job.error.type == Reason.NO_CHECKPOINT


def test_a_yield_without_any_checkpoint_is_a_failure() -> None:
    assert Attempt().lease.settle(Yielded(advanced=True), MIDDLE).state is State.RETRYING


def test_a_checkpoint_tells_the_job_that_it_is_to_be_cancelled() -> None:
    at = Attempt()
    cancelling(at)
    with pytest.raises(CancelRequested):
        at.lease.save('{"done":2}')
    assert at.row.cursor == '{"done":2}'


def test_a_beat_tells_the_job_that_it_is_to_be_cancelled_and_cuts_its_wait_short() -> None:
    at = Attempt()
    cancelling(at)
    assert not at.lease.stopping()
    at.lease.beat(at.store)
    assert at.lease.stopping()
    at.lease.wait(3600)
    assert at.clock.now() == NOW


def test_a_wait_ends_when_the_job_must_yield_and_not_later() -> None:
    at = Attempt(yields_in=seconds(100))
    at.lease.wait(30)
    assert at.clock.now() == NOW + seconds(30)
    at.lease.wait(3600)
    assert at.clock.now() == NOW + seconds(100)
    at.lease.wait(3600)
    assert at.clock.now() == NOW + seconds(100)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (SUCCESS, State.SUCCEEDED),
        (Failed(error=Error(type="Permanent", message="no", retryable=False)), State.FAILED),
        (TRANSIENT, State.CANCELLED),
        (Yielded(advanced=True), State.CANCELLED),
        (Snoozed(delay=timedelta(0)), State.CANCELLED),
    ],
)
@pytest.mark.parametrize("failures", [0, 4])
def test_a_job_that_was_cancelled_after_its_last_checkpoint_ends_and_never_goes_on(
    outcome: Outcome, state: State, failures: int
) -> None:
    at = Attempt(job=an_owned_job(failures=failures))
    at.lease.save("1")
    cancelling(at)
    assert at.lease.settle(outcome, MIDDLE).state is state
    assert at.row.state is state


def test_the_retry_of_the_first_failure_waits_for_the_first_delay() -> None:
    waits = []
    for failures in range(4):
        at = Attempt(job=an_owned_job(failures=failures))
        job = at.lease.settle(TRANSIENT, MIDDLE)
        assert job.retry_at is not None
        waits.append(job.retry_at - NOW)
    assert waits == list(TIMINGS.retry_delays)


def test_a_steps_result_is_remembered_once_and_the_loser_gets_the_first_one() -> None:
    at = Attempt()
    assert at.lease.recall("charge") is None
    assert at.lease.remember("charge", '"receipt 1"') == '"receipt 1"'
    assert at.lease.remember("charge", '"receipt 2"') == '"receipt 1"'
    assert at.lease.recall("charge") == '"receipt 1"'
    assert at.lease.recall("another") is None


def test_a_job_whose_row_is_gone_is_not_resurrected_by_its_worker() -> None:
    at = Attempt()
    at.store.rows.clear()
    with pytest.raises(LeaseLost):
        at.lease.save("1")
    assert at.store.rows == {}


def test_a_function_without_any_time_left_has_no_time_and_is_not_taken_for_one_without_a_limit() -> None:
    at = Attempt(yields_in=seconds(0))
    at.lease.wait(3600)
    assert at.clock.now() == NOW
    with pytest.raises(YieldRequested):
        at.lease.save('{"done":1}')
