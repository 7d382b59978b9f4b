"""Caps, through the functions of a stage: no more at once than a cap allows, in order, and nobody is charged for it."""

import json

import pytest

from coatcheck.job import State
from handlers import status, submit
from tests.coatcheck.cloud import Cloud
from tests.handlers.chain import Chain
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import job_in_table

pytestmark = pytest.mark.usefixtures("capped", "empty_queues")


def submitted(number: int) -> str:
    body = json.dumps({"kind": "probe", "labels": {"number": str(number)}})
    return str(body_of(submit.handler(http_event("POST /v1/jobs", body=body), LambdaContext()))["id"])


def seen(job_id: str) -> dict[str, object]:
    return body_of(status.handler(http_event("GET /v1/jobs/{id}", path={"id": job_id}), LambdaContext()))


def test_ten_jobs_with_a_cap_of_three_run_in_order_and_none_is_charged_for_waiting(aws: Cloud) -> None:
    chain = Chain(aws)
    ids = [submitted(number) for number in range(10)]
    chain.dispatch()
    started: list[str] = []
    while waits := [job_id for job_id in ids if job_in_table(job_id).state is State.QUEUED]:
        sent = [job_id for job_id in waits if job_in_table(job_id).sent]
        assert len(sent) == min(3, len(waits))
        started += [job_id for job_id in sent if job_id not in started]
        assert [seen(job_id)["reason"] for job_id in waits if job_id not in sent] == ["tenant_at_cap"] * (
            len(waits) - len(sent)
        )
        chain.work()
        chain.dispatch()
    assert started == ids
    jobs = [job_in_table(job_id) for job_id in ids]
    assert {(job.state, job.attempt, job.failures) for job in jobs} == {(State.SUCCEEDED, 1, 0)}
    assert aws.received("dead-letters") == []


def test_a_waiting_job_says_how_many_are_ahead_of_it(aws: Cloud) -> None:
    chain = Chain(aws)
    ids = [submitted(number) for number in range(6)]
    chain.dispatch()
    assert [seen(job_id).get("ahead") for job_id in ids] == [None, None, None, 0, 1, 2]
    assert [seen(job_id)["reason"] for job_id in ids] == ["waiting_for_worker"] * 3 + ["tenant_at_cap"] * 3
    chain.run()
