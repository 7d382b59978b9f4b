"""A worker whose doorbell, kind, lease or services are not as they should be."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from coatcheck import JobContext, Snooze
from coatcheck.job import Reason, State
from coatcheck.memory import MemoryMessage
from coatcheck.row import Row
from coatcheck.store import Unavailable
from coatcheck.takeover import take_over
from coatcheck.write import Write
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, doorbell, seconds
from tests.coatcheck.scripts import Args
from tests.coatcheck.shift import Shift, failing

pytestmark = pytest.mark.usefixtures("kinds")


def test_a_stale_doorbell_is_done_and_nothing_is_charged() -> None:
    shift = Shift(job=a_job(kind="script", attempt=3))
    before = shift.row
    assert shift.works(failing(AssertionError("it must not run")), bell=doorbell(before, attempt=2))
    assert shift.row == before
    assert shift.message.hidden == shift.beats.hidden == []


@pytest.mark.parametrize(("receives", "hidden"), [(1, 20), (2, 40), (4, 160), (6, 600), (10**6, 600)])
def test_a_claim_that_cannot_be_decided_is_given_back_uncharged_for_longer_each_time(
    receives: int, hidden: float
) -> None:
    shift = Shift(through=lambda store: FailingStore(under=store, before=1, reads=1))
    assert not shift.works(receives=receives)
    assert shift.message.hidden == [seconds(hidden)]
    assert shift.row == shift.job


def test_a_kind_that_this_version_does_not_know_is_given_back_uncharged() -> None:
    shift = Shift(job=a_job(kind="of-a-later-version"))
    assert not shift.works()
    assert shift.message.hidden == [TIMINGS.give_back]
    assert shift.row == shift.job


def test_a_message_that_cannot_be_given_back_comes_back_by_itself() -> None:
    class Broken(MemoryMessage):
        def hide(self, span: timedelta) -> None:
            super().hide(span)
            raise Unavailable("ThrottlingException")

    shift = Shift(job=a_job(kind="of-a-later-version"), message=Broken())
    assert not shift.works()


def test_a_worker_that_lost_its_lease_ends_quietly_and_its_message_is_done() -> None:
    def play(ctx: JobContext, args: Args) -> None:
        shift.clock.advance_alone(121)
        assert take_over(shift.store, shift.row, shift.clock.now(), TIMINGS) is not None
        try:
            ctx.checkpoint({"done": 1})
        except Exception:  # noqa: BLE001  # what kinds do
            pytest.fail("the interrupt was swallowed")

    shift = Shift()
    assert shift.works(play)
    assert (shift.row.state, shift.row.attempt, shift.row.failures, shift.row.cursor) == (State.QUEUED, 2, 1, None)
    assert shift.watchdog.cancelled == 1


def test_an_attempt_that_cannot_be_settled_leaves_its_message_to_come_back() -> None:
    class Dying(FailingStore):
        def write(self, write: Write) -> Row:
            if "finished_at" in getattr(write, "set", {}):
                shift.clock.advance_alone(200)
                raise Unavailable("ReadTimeoutError")
            return super().write(write)

    shift = Shift(through=lambda store: Dying(under=store))
    assert not shift.works()
    assert shift.row.state is State.RUNNING


def test_a_doorbell_that_comes_back_after_its_worker_died_brings_the_job_on_the_way_again() -> None:
    dead = an_owned_job(kind="script", lease_until=NOW - seconds(1))
    shift = Shift(job=dead)
    assert shift.works(failing(AssertionError("it must not run")))
    assert (shift.row.state, shift.row.attempt, shift.row.failures) == (State.QUEUED, 2, 1)


def test_two_attempts_have_two_owners() -> None:
    shift = Shift()
    shift.works(failing(Snooze(timedelta(0))))
    first = shift.row.owner
    shift.works()
    assert first is not None
    assert shift.row.owner not in (None, first)


@contextmanager
def broken_kind(folder: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import jobs

    (folder / "broken.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(folder)])
    yield


def test_a_kind_whose_file_is_broken_fails_its_own_jobs_with_the_reason(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broken_kind(tmp_path, monkeypatch):
        shift = Shift(job=a_job(kind="broken"))
        assert shift.works()
    assert (shift.row.state, shift.row.failures) == (State.RETRYING, 1)
    assert shift.row.error is not None
    assert shift.row.error.type == "BrokenKind"
    assert "a_library_that_is_not_there" in shift.row.error.message


def test_five_transient_failures_end_as_exhausted_and_not_four_or_six() -> None:
    shift = Shift()
    runs = 0
    while not shift.row.state.final:
        runs += 1
        shift.works(failing(ConnectionError("no answer")))
        if shift.row.state is State.RETRYING:
            shift.store.rows[shift.job.key]["state"] = "queued"
    assert runs == 5
    assert shift.row.error is not None
    assert shift.row.error.type == Reason.ATTEMPTS_EXHAUSTED
