"""Pauses, from the operator's order to the jobs that wait and go on: all functions over one table."""

from collections.abc import Iterator
from typing import Any

import pytest

from coatcheck.job import State
from handlers import bells, cancel, operator, supervisor, worker
from tests.coatcheck.cloud import Cloud
from tests.handlers.chain import Chain
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import job_in_table
from tests.handlers.test_chain import shown, submitted
from tests.handlers.test_recorder import history

pytestmark = pytest.mark.usefixtures("empty_queues")

BY = "arn:aws:iam::123456789012:user/example"


def forget_pauses() -> None:
    """The five seconds are over, for which processes go on by what they know."""
    for cached in (bells.known_pauses, bells.bell, worker._desk):
        cached.cache_clear()


def ordered(act: str, **fields: str) -> dict[str, Any]:
    answer: dict[str, Any] = operator.handler({"act": act, "by": BY, **fields}, LambdaContext())
    forget_pauses()
    return answer


def names(orders: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(each["scope"], each["name"], each["jobs"]) for each in orders]


def walk() -> dict[str, int]:
    answer: Any = supervisor.handler({"once": True}, LambdaContext(120))
    return dict(answer["steps"])


@pytest.fixture(autouse=True)
def nothing_paused(aws: Cloud) -> Iterator[None]:
    yield
    aws.dynamodb.delete_item(TableName="jobs", Key={"id": {"S": "pauses"}, "item": {"S": "pauses"}})
    forget_pauses()


@pytest.mark.parametrize(("scope", "name"), [("kind", "probe"), ("lane", "interactive"), ("tenant", "acme")])
def test_a_paused_job_waits_and_says_so_until_it_is_resumed(aws: Cloud, scope: str, name: str) -> None:
    chain = Chain(aws)
    told = ordered("pause", scope=scope, name=name)
    assert (names(told["held"]), told["held"][0]["by"], told["resumed"]) == ([(scope, name, 0)], BY, [])
    job_id = submitted({})
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["reason"], document["attempt"]) == ("queued", "paused", 1)
    assert names(ordered("pauses")["held"]) == [(scope, name, 1)]

    told = ordered("resume", scope=scope, name=name)
    assert (told["held"], names(told["resumed"])) == ([], [(scope, name, 1)])
    assert walk()["Send"] == 1
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["attempt"], document["failures"]) == ("succeeded", 1, 0)
    assert names(ordered("pauses")["resumed"]) == [(scope, name, 0)]


def test_a_job_whose_doorbell_is_out_is_taken_back_by_the_worker_that_hears_it(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({})
    assert chain.dispatch() == 1
    ordered("pause", scope="kind", name="probe")
    assert shown(job_id)["reason"] == "waiting_for_worker"
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["reason"], document["attempt"], document["failures"]) == (
        "queued", "paused", 2, 0,
    )  # fmt: skip
    (accepted, paused) = history(job_id)
    assert (accepted["attempt"], "act" in accepted) == (1, False)
    assert (paused["attempt"], paused["act"], paused["by"], paused["detail"]) == (2, "paused", BY, "kind probe")

    ordered("resume", scope="kind", name="probe")
    walk()
    chain.run()
    assert (shown(job_id)["state"], shown(job_id)["failures"]) == ("succeeded", 0)
    assert [entry["state"] for entry in history(job_id)] == ["queued", "queued", "running", "succeeded"]


def test_a_job_that_yields_under_a_pause_waits_with_its_checkpoint(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"steps": 5})
    chain.dispatch()
    chain.work(seconds=59)
    ordered("pause", scope="kind", name="probe")
    chain.run()
    document = shown(job_id)
    assert (document["reason"], document["attempt"], document["progress"]["done"]) == ("paused", 2, 1)
    ordered("resume", scope="kind", name="probe")
    walk()
    chain.run()
    assert (shown(job_id)["state"], shown(job_id)["failures"]) == ("succeeded", 0)


def test_a_paused_job_can_be_cancelled_and_is_woken_by_nobody(aws: Cloud) -> None:
    chain = Chain(aws)
    ordered("pause", scope="kind", name="probe")
    job_id = submitted({})
    chain.run()
    answer = cancel.handler(http_event("DELETE /v1/jobs/{id}", path={"id": job_id}), LambdaContext())
    assert (answer["statusCode"], body_of(answer)["state"]) == (200, "cancelled")
    assert names(ordered("pauses")["held"]) == [("kind", "probe", 0)]
    ordered("resume", scope="kind", name="probe")
    assert walk().get("Send", 0) == 0
    assert job_in_table(job_id).state is State.CANCELLED


@pytest.mark.parametrize(
    ("act", "scope", "name", "refused"),
    [
        ("pause", "kind", "gst-exprot", "there is no kind 'gst-exprot': there are "),
        ("pause", "lane", "slow", "there is no lane 'slow': there are bulk, interactive"),
        ("pause", "tenant", "", "'' is no name of a tenant: it has 1 to 64 of a-z, 0-9 and dash"),
        ("resume", "kind", "probe", "the kind probe is not paused"),
    ],
)
def test_a_name_that_nothing_bears_is_refused_with_those_that_there_are(
    act: str, scope: str, name: str, refused: str
) -> None:
    told = ordered(act, scope=scope, name=name)
    assert list(told) == ["refused"]
    assert told["refused"].startswith(refused)
    assert ordered("pauses") == {"held": [], "resumed": []}


def test_a_kind_that_is_gone_meanwhile_can_be_resumed(aws: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    ordered("pause", scope="kind", name="probe")
    monkeypatch.setattr("coatcheck.registry.names", frozenset[str])
    assert ordered("resume", scope="kind", name="probe")["held"] == []
