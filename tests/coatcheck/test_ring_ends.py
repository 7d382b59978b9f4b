"""Rings of final jobs: what is still owed is done, once, and says why the job ended."""

from typing import Any

import pytest

from coatcheck.doorbell import DeadLetter
from coatcheck.job import Error, Reason, State, Wrote
from coatcheck.memory import MemoryQueues
from coatcheck.next_step import Conclude, Nothing, Tell
from coatcheck.ring import ring, take
from coatcheck.store import Unavailable
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_job
from tests.coatcheck.scenes import scene

EXHAUSTED = Error(type=Reason.ATTEMPTS_EXHAUSTED, message="failed 5 times, at last with Timeout: no answer")


@pytest.mark.parametrize("reason", [Reason.ATTEMPTS_EXHAUSTED, Reason.NEVER_STARTED])
def test_a_job_that_the_platform_gave_up_leaves_one_dead_letter_that_says_what_happened(reason: Reason) -> None:
    error = Error(type=reason, message="why")
    failed = a_job(state=State.FAILED, attempt=5, failures=5, error=error, finished_at=NOW, told=True)
    at = scene(failed)
    assert ring(at.bell, JOB_ID, NOW) == Conclude()
    assert ring(at.bell, JOB_ID, NOW) == Nothing()
    (letter,) = at.queues.dead_letters
    assert (letter.job_id, letter.tenant, letter.kind, letter.attempt, letter.failures) == (
        JOB_ID, "acme", "probe", 5, 5,
    )  # fmt: skip
    assert (letter.error_type, letter.error_message, letter.failed_at) == (reason, "why", "2026-11-10T12:00:00.000Z")
    assert (at.job.freed, at.job.due, at.job.wrote) == (True, None, Wrote.MARK)


@pytest.mark.parametrize(
    "final",
    [
        {"state": State.SUCCEEDED},
        {"state": State.CANCELLED},
        {"state": State.CANCELLED, "error": EXHAUSTED},
        {"state": State.FAILED, "error": Error(type="UnknownSeller", message="no such seller", retryable=False)},
        {"state": State.FAILED},
    ],
)
def test_other_ends_leave_no_dead_letter_and_are_concluded_all_the_same(final: dict[str, Any]) -> None:
    at = scene(a_job(**final))
    ring(at.bell, JOB_ID, NOW)
    assert at.queues.dead_letters == []
    assert (at.job.freed, at.job.told) == (True, False)


def test_a_dead_letter_that_cannot_be_sent_is_owed_until_it_is() -> None:
    class Silent(MemoryQueues):
        def dead_letter(self, letter: DeadLetter) -> None:
            super().dead_letter(letter)
            raise Unavailable("ThrottlingException")

    at = scene(a_job(state=State.FAILED, error=EXHAUSTED), Silent())
    with pytest.raises(Unavailable):
        ring(at.bell, JOB_ID, NOW)
    assert not at.job.freed
    assert at.job.due is not None


def test_concluding_twice_at_once_is_harmless() -> None:
    at = scene(a_job(state=State.FAILED, error=EXHAUSTED))
    before = at.job
    take(at.bell, before, Conclude(), NOW)
    after = at.job
    take(at.bell, before, Conclude(), NOW)
    assert at.job == after


def test_an_end_that_the_stream_lost_is_told_by_the_supervisors_rings() -> None:
    at = scene(a_job(state=State.SUCCEEDED))
    assert ring(at.bell, JOB_ID, NOW) == Conclude()
    assert ring(at.bell, JOB_ID, NOW) == Nothing(), "the recorder has time until the row is due"
    assert ring(at.bell, JOB_ID, NOW + TIMINGS.due_grace) == Tell()
    assert (at.job.freed, at.job.told, at.job.due) == (True, True, None)
