"""DELETE: the same answer however often it is asked."""

from datetime import timedelta
from typing import Any

import pytest

from coatcheck.job import Error, Reason, State
from handlers import cancel
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now, row

pytestmark = pytest.mark.usefixtures("aws")


def delete(job_id: str, **more: Any) -> dict[str, Any]:
    return cancel.handler(http_event("DELETE /v1/jobs/{id}", path={"id": job_id}, **more), LambdaContext())


@pytest.mark.parametrize("state", [State.QUEUED, State.RETRYING])
def test_a_job_that_waits_is_cancelled_now_and_again(state: State) -> None:
    job_id = add_job(state=state).id
    for _ in range(2):
        answer = delete(job_id)
        assert (answer["statusCode"], body_of(answer)["state"]) == (200, "cancelled")
    assert job_in_table(job_id).state is State.CANCELLED


def test_a_running_job_is_asked_to_stop_and_asked_again() -> None:
    job_id = add_job(state=State.RUNNING, owner="owner-1", lease_until=now()).id
    for _ in range(2):
        answer = delete(job_id)
        assert (answer["statusCode"], body_of(answer)["state"]) == (202, "cancelling")


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED])
def test_a_finished_job_stays_what_it_is(state: State) -> None:
    job_id = add_job(state=state).id
    answer = delete(job_id)
    assert answer["statusCode"] == 409
    assert str(state) in body_of(answer)["detail"]
    assert job_in_table(job_id).state is state


def test_another_tenants_job_is_as_unknown_as_one_that_never_was() -> None:
    theirs = add_job(tenant="globex").id
    for job_id in (theirs, new_id(), "x" * 3000):
        assert delete(job_id)["statusCode"] == 404
    assert job_in_table(theirs).state is State.QUEUED


def test_a_caller_who_is_not_known_cancels_nothing() -> None:
    job_id = add_job().id
    assert delete(job_id, authorizer=None)["statusCode"] == 401
    assert job_in_table(job_id).state is State.QUEUED


EXHAUSTED = Error(type=Reason.ATTEMPTS_EXHAUSTED, message="failed 5 times")


@pytest.mark.parametrize(
    ("job", "status"),
    [
        ({"state": State.QUEUED}, 200),
        ({"state": State.QUEUED, "run_at": now() + timedelta(days=1)}, 200),
        ({"state": State.RETRYING, "retry_at": now() + timedelta(minutes=1)}, 200),
        ({"state": State.RUNNING, "owner": "owner-1", "lease_until": now()}, 202),
        ({"state": State.CANCELLING, "owner": "owner-1", "lease_until": now()}, 202),
        ({"state": State.CANCELLED}, 200),
        ({"state": State.SUCCEEDED}, 409),
        ({"state": State.FAILED}, 409),
        ({"state": State.FAILED, "error": EXHAUSTED, "freed": True, "told": True}, 409),
        ({"state": State.FAILED, "ttl": round(now().timestamp()) - 1}, 404),
        ({"tenant": "globex"}, 404),
    ],
    ids=[
        "queued", "for later", "retrying", "running", "cancelling", "cancelled", "succeeded", "failed", "dead-lettered",
        "past its time", "another tenant's",
    ],
)  # fmt: skip
def test_a_delete_that_is_repeated_does_and_answers_what_the_first_one_did(job: dict[str, Any], status: int) -> None:
    job_id = add_job(**job).id
    first = delete(job_id)
    after = row(job_id)
    again = delete(job_id)
    assert (first["statusCode"], again["statusCode"]) == (status, status)
    assert row(job_id) == after
