"""Overload, through the functions: refusals say why and for how long, and everything but new jobs goes on as ever."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec
import pytest

from coatcheck.aws import clients
from coatcheck.job import State
from coatcheck.load import LOAD_KEY
from coatcheck.run import settings
from coatcheck.tenant_limits import limits_key
from coatcheck.write import put
from handlers import cancel, ports, status, submit
from tests.coatcheck.admissions import GENEROUS
from tests.coatcheck.cloud import BUSY, troubled
from tests.handlers.chain import Chain, counting_calls
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now
from tests.handlers.test_retry import retry
from tests.handlers.test_submit import PROBE, post, problem

pytestmark = pytest.mark.usefixtures("few")

_numbers = count(1)


@pytest.fixture
def few(aws: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # the stage comes first
    """One job a second, five at once."""
    terms = replace(GENEROUS, requests_per_second=1, burst=5, lines={"interactive": 50, "bulk": 50})
    monkeypatch.setenv(settings.ADMISSION, msgspec.json.encode(terms).decode())
    forget()
    yield
    ports.jobs().write(put(LOAD_KEY, {}))
    forget()


def forget() -> None:
    for each in (settings.admission, submit.admissions, ports.known_load, ports.known_pace):
        each.cache_clear()


def a_tenant() -> dict[str, str]:
    """One whom no other test has emptied the bucket of."""
    return {"tenant": f"tenant-{next(_numbers)}", "name": "key …abcd"}


def counted(tenant: str, jobs: int, backlog: int = 0) -> None:
    load = {"open_jobs": jobs, "counted_at": now(), "tenants": {tenant: {"interactive": jobs}}}
    ports.jobs().write(put(LOAD_KEY, load | {"lanes": {"interactive": {"fair_backlog": backlog}}}))
    forget()


def refused(answer: dict[str, Any], kind: str) -> dict[str, Any]:
    document = problem(answer, 429)
    assert document["type"] == f"urn:coatcheck:problem:{kind}"
    assert 1 <= int(answer["headers"]["Retry-After"]) <= 300
    return document


def test_a_flood_is_refused_beyond_the_burst_and_what_was_accepted_is_there_and_the_rest_is_not() -> None:
    tenant = a_tenant()
    keys = [new_id() for _ in range(30)]
    answers = [post(PROBE, key=key, authorizer=tenant) for key in keys]
    accepted = [body_of(answer)["id"] for answer in answers if answer["statusCode"] == 202]
    assert 5 <= len(accepted) < 30
    assert all(job_in_table(job_id).tenant == tenant["tenant"] for job_id in accepted)
    assert len(ports.jobs().listed(tenant["tenant"], 100).ids) == len(accepted)
    for answer in answers:
        if answer["statusCode"] != 202:
            assert "1 a second" in refused(answer, "rate-limit")["detail"]
    again = [
        post(PROBE, key=key, authorizer=tenant)
        for key, each in zip(keys, answers, strict=True)
        if each["statusCode"] == 202
    ]
    assert [(answer["statusCode"], body_of(answer)["id"]) for answer in again] == [(202, job) for job in accepted]
    assert {answer["headers"].get("Idempotent-Replayed") for answer in again} == {"true"}


def test_who_is_refused_costs_no_call_while_it_is_known_and_others_do_not_notice() -> None:
    tenant = a_tenant()
    while post(PROBE, authorizer=tenant)["statusCode"] == 202:
        pass
    with counting_calls() as calls:
        answers = [post(PROBE, authorizer=tenant) for _ in range(10)]
    refusals = [answer for answer in answers if answer["statusCode"] == 429]
    assert len(refusals) >= 8
    assert calls.total() <= 2 * (10 - len(refusals)) + 3
    assert post(PROBE, authorizer=a_tenant())["statusCode"] == 202


def test_too_many_open_jobs_is_a_problem_that_says_how_many_one_may_have() -> None:
    tenant = a_tenant()
    ports.tenants().write(put(limits_key(tenant["tenant"]), {"tenant": tenant["tenant"], "open_jobs": 40, "caps": {}}))
    counted(tenant["tenant"], 40)
    assert "40 open jobs" in refused(post(PROBE, authorizer=tenant), "open-jobs-limit")["detail"]
    old = add_job(state=State.FAILED, finished_at=now(), tenant=tenant["tenant"])
    refused(retry(old.id, authorizer=tenant), "open-jobs-limit")
    assert job_in_table(old.id).retried_as is None


def test_a_full_lane_refuses_those_above_their_cap_and_lets_the_others_and_other_lanes_go_on() -> None:
    tenant, other = a_tenant(), a_tenant()
    counted(tenant["tenant"], 4, backlog=60)
    assert "the lane interactive" in refused(post(PROBE, authorizer=tenant), "lane-full")["detail"]
    assert post(PROBE, authorizer=other)["statusCode"] == 202
    assert post(PROBE | {"lane": "bulk"}, authorizer=tenant)["statusCode"] == 202
    counted(tenant["tenant"], 4, backlog=100)
    refused(post(PROBE, authorizer=other), "lane-full")


def test_status_and_cancel_go_on_for_a_tenant_that_is_refused() -> None:
    tenant = a_tenant()
    job_id = body_of(post(PROBE, authorizer=tenant))["id"]
    while post(PROBE, authorizer=tenant)["statusCode"] == 202:
        pass
    counted(tenant["tenant"], 10**6, backlog=10**6)
    event = {"path": {"id": job_id}, "authorizer": tenant}
    assert status.handler(http_event("GET /v1/jobs/{id}", **event), LambdaContext())["statusCode"] == 200  # type: ignore[arg-type]
    assert cancel.handler(http_event("DELETE /v1/jobs/{id}", **event), LambdaContext())["statusCode"] == 200  # type: ignore[arg-type]


def test_a_wrong_request_takes_no_token() -> None:
    tenant = a_tenant()
    for _ in range(20):
        problem(post({"kind": "probe", "args": {"steps": "x"}}, authorizer=tenant), 400)
    assert [post(PROBE, authorizer=tenant)["statusCode"] for _ in range(5)] == [202] * 5


def test_if_admission_cannot_be_asked_the_job_is_let_in_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    tenant = a_tenant()
    post(PROBE, authorizer=tenant)  # everything is known
    with troubled(clients.dynamodb(), BUSY):
        assert post(PROBE, authorizer=tenant)["statusCode"] == 202
    assert [vars(record)["tenant"] for record in caplog.records if record.levelname == "WARNING"] == [tenant["tenant"]]


def test_a_flood_drains_once_it_is_let_in(aws: Any) -> None:
    chain = Chain(aws)
    tenant = a_tenant()
    ids = [
        body_of(answer)["id"]
        for answer in (post(PROBE, authorizer=tenant) for _ in range(12))
        if "id" in body_of(answer)
    ]
    chain.run()
    assert {job_in_table(job_id).state for job_id in ids} == {State.SUCCEEDED}
    assert json.loads(post(PROBE, authorizer=a_tenant())["body"])["state"] == "queued"
