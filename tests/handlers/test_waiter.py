"""GET /v1/jobs/{id}/wait: what status answers, held until it is news."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from coatcheck.job import Progress, State, row_of
from coatcheck.write import Put
from handlers import ports, status, waiter
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, now

pytestmark = pytest.mark.usefixtures("aws")


def wait(job_id: str, seconds: str | None = "0", *, left: float = 30, **more: Any) -> dict[str, Any]:
    query = {} if seconds is None else {"seconds": seconds}
    event = http_event("GET /v1/jobs/{id}/wait", path={"id": job_id}, query=query, **more)
    return waiter.handler(event, LambdaContext(left))


def poll(job_id: str) -> dict[str, Any]:
    query = {"redirect": "false"}
    return status.handler(http_event("GET /v1/jobs/{id}", path={"id": job_id}, query=query), LambdaContext())


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.FAILED])
def test_it_answers_what_a_poll_would_answer(state: State) -> None:
    job_id = add_job(state=state, finished_at=now() if state.final else None).id
    polled, waited = poll(job_id), wait(job_id)
    for answer in (polled, waited):
        del answer["headers"]["Coatcheck-Request-Id"]
    assert waited == polled


def test_what_the_client_has_seen_is_answered_in_full_when_the_time_is_over() -> None:
    job_id = add_job().id
    tag = poll(job_id)["headers"]["ETag"]
    answer = wait(job_id, headers={"if-none-match": tag})
    assert (answer["statusCode"], answer["headers"]["ETag"]) == (200, tag)
    assert body_of(answer)["id"] == job_id


def test_a_document_that_differs_from_what_the_client_has_is_answered_at_once() -> None:
    begin = time.monotonic()
    assert wait(add_job().id, "20", headers={"if-none-match": '"other"'})["statusCode"] == 200
    assert time.monotonic() - begin < 5


def test_a_change_ends_the_wait() -> None:
    job = add_job(state=State.RUNNING)
    tag = poll(job.id)["headers"]["ETag"]
    further = replace(job, progress=Progress(done=7))
    timer = threading.Timer(0.5, lambda: ports.jobs().write(Put(key=job.key, row=row_of(further))))
    timer.start()
    answer = wait(job.id, "20", headers={"if-none-match": tag})
    timer.join()
    assert body_of(answer)["progress"]["done"] == 7
    assert answer["headers"]["ETag"] != tag


def test_time_is_left_for_the_answer() -> None:
    begin = time.monotonic()
    assert wait(add_job().id, "20", left=5.5)["statusCode"] == 200
    assert time.monotonic() - begin < 4


@pytest.mark.parametrize("seconds", ["21", "-1", "1.5", "x", ""])
def test_a_wait_of_no_length_that_there_is_is_a_400(seconds: str) -> None:
    answer = wait(add_job().id, seconds)
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (400, "application/problem+json")


def test_who_is_not_known_and_who_does_not_own_the_job_wait_for_nothing() -> None:
    theirs = add_job(tenant="globex").id
    assert wait(theirs, "20")["statusCode"] == 404
    assert wait(theirs, "20", authorizer={"refusal": "no"})["statusCode"] == 401
