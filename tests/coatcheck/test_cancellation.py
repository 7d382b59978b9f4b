"""DELETE: a job is cancelled once, or it is said why it cannot be."""

from typing import Any

import pytest

from coatcheck.caller import Caller
from coatcheck.cancellation import cancel, owned_job
from coatcheck.job import Job, State, Wrote
from coatcheck.problem import Busy, Conflict, NotFound
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_job, an_owned_job, job_in, seconds, stored
from tests.coatcheck.submits import at_once

ACME = Caller(tenant="acme", name="key …abcd")


@pytest.mark.parametrize(
    "job",
    [a_job(), a_job(sent=1), a_job(run_at=NOW + seconds(9)), a_job(state=State.RETRYING, retry_at=NOW + seconds(9))],
    ids=["queued", "sent", "snoozed", "retrying"],
)
def test_a_job_that_waits_is_cancelled_at_once_and_its_end_is_left_to_a_ring(job: Job) -> None:
    store = stored(job)
    cancelled = cancel(store, ACME, JOB_ID, NOW, TIMINGS)
    assert cancelled == job_in(store)
    assert (cancelled.state, cancelled.finished_at, cancelled.retry_at, cancelled.run_at) == (
        State.CANCELLED, NOW, None, None,
    )  # fmt: skip
    assert (cancelled.due, cancelled.wrote) == (NOW + TIMINGS.due_grace, Wrote.TRANSITION)
    assert cancelled.ttl == round((NOW + TIMINGS.keep_row).timestamp())


def test_a_running_jobs_worker_is_asked_to_stop_and_keeps_its_lease() -> None:
    store = stored(an_owned_job())
    job = cancel(store, ACME, JOB_ID, NOW, TIMINGS)
    assert (job.state, job.owner, job.lease_until, job.due) == (
        State.CANCELLING, "owner-1", NOW + seconds(60), NOW + seconds(65),
    )  # fmt: skip


@pytest.mark.parametrize("job", [a_job(), an_owned_job()])
def test_a_second_cancellation_finds_the_first_and_changes_nothing(job: Job) -> None:
    store = stored(job)
    first = cancel(store, ACME, JOB_ID, NOW, TIMINGS)
    assert cancel(store, ACME, JOB_ID, NOW + seconds(5), TIMINGS) == first


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED])
def test_a_finished_job_stays_what_it_is(state: State) -> None:
    store = stored(a_job(state=state))
    with pytest.raises(Conflict, match=str(state)):
        cancel(store, ACME, JOB_ID, NOW, TIMINGS)
    assert job_in(store).state is state


def test_a_cancellation_whose_answer_was_lost_finds_its_own_effect() -> None:
    store = stored(a_job())
    assert cancel(RepeatingStore(under=store), ACME, JOB_ID, NOW, TIMINGS).state is State.CANCELLED


def test_a_job_that_a_worker_claims_meanwhile_is_cancelled_as_the_running_job_it_is() -> None:
    class ClaimedMeanwhile(FailingStore):
        def get(self, key: Any) -> Any:
            row = super().get(key)
            store.rows.update(stored(an_owned_job()).rows)
            return row

    store = stored(a_job())
    assert cancel(ClaimedMeanwhile(under=store), ACME, JOB_ID, NOW, TIMINGS).state is State.CANCELLING


def test_a_job_that_never_holds_still_is_given_up_with_a_hint_to_try_again() -> None:
    class Restless(FailingStore):
        attempt: int = 1

        def get(self, key: Any) -> Any:
            row = super().get(key)
            self.attempt += 1
            store.rows[key]["attempt"] = self.attempt
            return row

    store = stored(a_job())
    with pytest.raises(Busy) as busy:
        cancel(Restless(under=store), ACME, JOB_ID, NOW, TIMINGS)
    assert busy.value.headers["Retry-After"] == "1"


def test_another_tenants_job_is_as_unknown_as_one_that_never_was() -> None:
    globex = Caller(tenant="globex", name="key …wxyz")
    texts = set()
    for store in (stored(a_job()), stored()):
        with pytest.raises(NotFound) as unknown:
            cancel(store, globex, JOB_ID, NOW, TIMINGS)
        texts.add(unknown.value.detail)
    assert len(texts) == 1
    assert job_in(stored(a_job())).state is State.QUEUED


@pytest.mark.parametrize("text", ["", "j_", "x" * 3000, f"{JOB_ID}\n", JOB_ID.upper(), "key#acme#1", "j_\0"])
def test_what_is_no_job_id_is_not_even_looked_up(text: str) -> None:
    store = FailingStore(under=stored(a_job()))
    with pytest.raises(NotFound):
        owned_job(store, ACME, text, NOW)
    assert store.calls == []


def test_a_job_past_its_time_is_unknown_although_the_table_still_has_it() -> None:
    old = a_job(state=State.FAILED, ttl=round(NOW.timestamp()))
    with pytest.raises(NotFound):
        owned_job(stored(old), ACME, old.id, NOW)
    assert owned_job(stored(old), ACME, old.id, NOW - seconds(1)) == old


@pytest.mark.parametrize("job", [a_job(), an_owned_job()])
def test_the_row_says_who_asked_for_the_cancellation(job: Job) -> None:
    store = stored(job)
    cancel(store, Caller(tenant="acme", name="key …wxyz of backend"), JOB_ID, NOW, TIMINGS)
    assert job_in(store).cancelled_by == "key …wxyz of backend"


@pytest.mark.parametrize(("job", "state"), [(a_job(), State.CANCELLED), (an_owned_job(), State.CANCELLING)])
def test_twenty_cancellations_at_once_are_one_and_all_are_told_the_same(job: Job, state: State) -> None:
    store = stored(job)
    told = at_once(20, lambda _: cancel(store, ACME, JOB_ID, NOW, TIMINGS))
    assert told == [job_in(store)] * 20
    assert job_in(store).state is state
