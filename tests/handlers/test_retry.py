"""POST /v1/jobs/{id}/retry: a failed job is tried again, as one new job."""

from typing import Any

import pytest

from coatcheck.job import State
from handlers import submit
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now

pytestmark = pytest.mark.usefixtures("aws")


def retry(job_id: str, **more: Any) -> dict[str, Any]:
    return submit.handler(http_event("POST /v1/jobs/{id}/retry", path={"id": job_id}, **more), LambdaContext())


def test_a_failed_job_becomes_a_new_one_and_both_name_each_other() -> None:
    old = add_job(state=State.FAILED, finished_at=now(), cursor='{"done":2}')
    answers = [retry(old.id), retry(old.id, body='{"of": "no interest"}')]
    assert [answer["statusCode"] for answer in answers] == [202, 202]
    new = body_of(answers[0])
    assert body_of(answers[1])["id"] == new["id"]
    assert (new["state"], new["retry_of"], new["attempt"]) == ("queued", old.id, 1)
    assert answers[0]["headers"]["Location"] == f"/v1/jobs/{new['id']}"
    assert (job_in_table(old.id).retried_as, job_in_table(new["id"]).cursor) == (new["id"], '{"done":2}')


@pytest.mark.parametrize("state", [State.QUEUED, State.SUCCEEDED])
def test_a_job_that_did_not_fail_is_a_conflict(state: State) -> None:
    answer = retry(add_job(state=state).id)
    assert (answer["statusCode"], body_of(answer)["status"]) == (409, 409)


def test_another_tenants_job_is_not_found() -> None:
    assert retry(add_job(state=State.FAILED, tenant="globex").id)["statusCode"] == 404
    assert retry(new_id())["statusCode"] == 404
