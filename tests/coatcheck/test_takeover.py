"""Take-over: the job of a worker that died is charged once and goes on."""

from datetime import timedelta

import pytest

from coatcheck.job import Job, Reason, State, Wrote
from coatcheck.takeover import expired, take_over, take_over_write
from coatcheck.write import update
from tests.coatcheck.rows import NOW, TIMINGS, a_job, an_owned_job, job_in, seconds, stored

DEAD = an_owned_job(lease_until=NOW - seconds(1), claimed_at=NOW - seconds(121), ran=seconds(7), seq=4, cursor="{}")


def test_a_dead_workers_job_is_charged_and_owed_under_the_next_number() -> None:
    store = stored(DEAD)
    taken = take_over(store, DEAD, NOW, TIMINGS)
    assert taken == job_in(store)
    assert taken is not None
    assert (taken.state, taken.attempt, taken.failures) == (State.QUEUED, 2, 1)
    assert taken.error is not None
    assert taken.error.type == Reason.WORKER_DIED
    assert (taken.owner, taken.lease_until, taken.cursor) == (None, None, "{}")


def test_running_time_counts_up_to_the_end_of_the_lease_and_not_to_when_it_was_found() -> None:
    taken = take_over(stored(DEAD), DEAD, NOW + timedelta(minutes=9), TIMINGS)
    assert taken is not None
    assert taken.ran == seconds(127)


def test_one_death_is_charged_once_however_many_find_it() -> None:
    store = stored(DEAD)
    assert take_over(store, DEAD, NOW, TIMINGS) is not None
    assert take_over(store, DEAD, NOW, TIMINGS) is None
    assert (job_in(store).failures, job_in(store).attempt) == (1, 2)


def test_a_death_that_spends_the_budget_fails_the_job_as_exhausted() -> None:
    dead = an_owned_job(lease_until=NOW - seconds(1), failures=4, attempt=7)
    taken = take_over(stored(dead), dead, NOW, TIMINGS)
    assert taken is not None
    assert (taken.state, taken.failures, taken.attempt, taken.finished_at) == (State.FAILED, 5, 7, NOW)
    assert taken.error is not None
    assert taken.error.type == Reason.ATTEMPTS_EXHAUSTED
    assert "worker_died" in taken.error.message
    assert taken.ttl == round((NOW + TIMINGS.keep_row).timestamp())


def test_a_job_that_was_being_cancelled_ends_cancelled_and_uncharged() -> None:
    dead = an_owned_job(state=State.CANCELLING, lease_until=NOW - seconds(1), failures=4)
    taken = take_over(stored(dead), dead, NOW, TIMINGS)
    assert taken is not None
    assert (taken.state, taken.failures, taken.owner) == (State.CANCELLED, 4, None)


def test_it_leaves_work_behind_and_says_so() -> None:
    taken = take_over(stored(DEAD), DEAD, NOW, TIMINGS)
    assert taken is not None
    assert (taken.due, taken.wrote) == (NOW + TIMINGS.due_grace, Wrote.TRANSITION)


def test_a_worker_that_beat_in_the_meantime_keeps_its_job() -> None:
    alive = an_owned_job(lease_until=NOW + seconds(30))
    store = stored(alive)
    assert take_over(store, DEAD, NOW, TIMINGS) is None
    assert job_in(store) == alive


def test_a_newer_attempt_is_not_taken_for_the_older_ones_death() -> None:
    newer = an_owned_job(attempt=2, owner="owner-2", lease_until=NOW - seconds(1))
    store = stored(newer)
    assert take_over(store, DEAD, NOW, TIMINGS) is None
    assert job_in(store) == newer


def test_a_cancellation_that_came_in_the_meantime_is_not_overlooked() -> None:
    cancelling = an_owned_job(state=State.CANCELLING, lease_until=NOW - seconds(1))
    store = stored(cancelling)
    assert take_over(store, DEAD, NOW, TIMINGS) is None
    assert job_in(store) == cancelling


def test_a_job_that_is_gone_is_not_resurrected() -> None:
    store = stored()
    assert take_over(store, DEAD, NOW, TIMINGS) is None
    assert store.rows == {}


@pytest.mark.parametrize(
    ("job", "dead"),
    [
        (DEAD, True),
        (an_owned_job(lease_until=NOW), False),  # the last moment still belongs to the owner
        (an_owned_job(state=State.CANCELLING, lease_until=NOW - seconds(1)), True),
        (a_job(lease_until=NOW - seconds(1)), False),
        (a_job(state=State.RETRYING, lease_until=NOW - seconds(1)), False),
        (an_owned_job(lease_until=None), False),
    ],
)
def test_only_an_owned_job_whose_lease_is_over_counts_as_dead(*, job: Job, dead: bool) -> None:
    assert expired(job, NOW) is dead


def test_the_rule_and_the_write_agree_about_the_moment_of_death() -> None:
    at_the_border = an_owned_job(lease_until=NOW)
    assert take_over(stored(at_the_border), at_the_border, NOW, TIMINGS) is None
    moved = update(at_the_border.key, (), {"lease_until": NOW - timedelta(milliseconds=1)})
    store = stored(at_the_border)
    store.write(moved)
    store.write(take_over_write(at_the_border, NOW, TIMINGS))
    assert job_in(store).state is State.QUEUED
