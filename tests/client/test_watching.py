"""Waiting for a job: held answers, polls where there are none, and what happens meanwhile."""

import pytest

from coatcheck_client import Refused, StillOpen, Unreachable
from tests.client.server import FakeTime, Reply, ScriptedServer, client_of, document, drop

POLL = "/v1/jobs/j_1?redirect=false"
HELD = "/v1/jobs/j_1/wait?seconds=20"
FULL: Reply = (503, {}, {"message": "Service Unavailable"})
DONE: Reply = (200, {}, document("succeeded"))


def seen(state: str, tag: str, retry_after: str | None = None, status: int = 200) -> Reply:
    pace = {} if retry_after is None else {"Retry-After": retry_after}
    return status, {"ETag": f'"{tag}"', **pace}, document(state)


def test_a_wait_asks_for_the_end_alone() -> None:
    server, time = ScriptedServer(DONE), FakeTime()
    with client_of(server, time) as client:
        assert client.wait("j_1").succeeded
    assert server.paths == [HELD]
    assert "if-none-match" not in server.asked[0].headers
    assert time.slept == []


def test_every_change_is_followed_by_what_was_seen_last() -> None:
    server = ScriptedServer(seen("queued", "a"), seen("running", "b"), seen("running", "b"), seen("failed", "c"))
    with client_of(server) as client:
        assert [job.state for job in client.follow("j_1")] == ["queued", "running", "failed"]
    assert [each.headers["if-none-match"] for each in server.asked] == ['""', '"a"', '"b"', '"b"']


def test_what_is_final_is_not_asked_for_again() -> None:
    server = ScriptedServer(DONE)
    with client_of(server) as client:
        job = client.wait("j_1")
        assert client.wait(job) is job
        assert list(client.follow(job)) == [job]
    assert len(server.asked) == 1


@pytest.mark.parametrize("refusal", [FULL, (404, {}, {}), (429, {}, {}), (500, {}, {}), (400, {}, {}), drop])
def test_where_no_answer_is_held_it_polls_at_the_pace_that_it_is_told(refusal: Reply) -> None:
    server = ScriptedServer(refusal, seen("queued", "a", "7"), refusal, seen("running", "b", "1.5"), refusal, DONE)
    time = FakeTime()
    with client_of(server, time) as client:
        assert client.wait("j_1").succeeded
    assert server.paths == [HELD, POLL] * 3
    assert time.slept == [7, 1.5]


def test_changes_that_are_polled_for_are_polled_for_at_that_pace_too() -> None:
    server, time = (
        ScriptedServer(FULL, seen("queued", "a", "7"), FULL, seen("running", "b", "5"), FULL, DONE),
        FakeTime(),
    )
    with client_of(server, time) as client:
        assert len(list(client.follow("j_1"))) == 3
    assert time.slept == [7, 5]


def test_a_refused_wait_says_when_to_come_back() -> None:
    server, time = ScriptedServer((429, {"Retry-After": "9"}, {}), DONE), FakeTime()
    with client_of(server, time) as client:
        assert client.wait("j_1").succeeded
    assert (server.paths, time.slept) == ([HELD, POLL], [9])


@pytest.mark.parametrize(("told", "pause"), [(None, 2.0), ("0", 0.25), ("-3", 0.25), ("soon", 2.0), ("9", 9.0)])
def test_an_answer_that_was_not_held_does_not_lead_to_a_storm(told: str | None, pause: float) -> None:
    server, time = ScriptedServer(*[seen("running", "a", told)] * 3, DONE), FakeTime()
    with client_of(server, time) as client:
        client.wait("j_1")
    assert time.slept == [pause] * 3


def test_a_deployment_in_the_meantime_is_no_reason_to_let_go() -> None:
    server = ScriptedServer(seen("running", "a"), *[drop] * 6, *[FULL] * 4, seen("succeeded", "b"))
    time = FakeTime()
    with client_of(server, time) as client:
        assert [job.state for job in client.follow("j_1")] == ["running", "succeeded"]
    assert time.slept == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_an_api_that_stays_away_is_told_when_patience_ends() -> None:
    with client_of(ScriptedServer(drop), patience=5) as client, pytest.raises(Unreachable):
        client.wait("j_1")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_job_that_cannot_be_seen_ends_the_wait_at_once(status: int) -> None:
    server, time = ScriptedServer((status, {}, {"title": "No"})), FakeTime()
    with client_of(server, time) as client, pytest.raises(Refused) as refused:
        client.wait("j_1", timeout=60)
    assert (refused.value.status, server.paths, time.slept) == (status, [HELD, POLL], [])


def test_when_time_is_over_the_last_that_was_seen_is_told() -> None:
    server, time = ScriptedServer(seen("running", "a", "4")), FakeTime()
    with client_of(server, time) as client, pytest.raises(StillOpen) as still_open:
        client.wait("j_1", timeout=10)
    assert still_open.value.job is not None
    assert still_open.value.job.state == "running"
    assert sum(time.slept) == 10
    assert server.paths == [f"/v1/jobs/j_1/wait?seconds={seconds}" for seconds in (10, 6, 2, 0)]


def test_a_wait_of_no_time_is_one_look() -> None:
    server = ScriptedServer(seen("running", "a"))
    with client_of(server) as client, pytest.raises(StillOpen):
        client.wait("j_1", timeout=0)
    assert server.paths == ["/v1/jobs/j_1/wait?seconds=0"]


def test_time_is_over_also_while_there_is_no_answer() -> None:
    server, time = ScriptedServer(seen("running", "a", "0"), drop), FakeTime()
    with client_of(server, time) as client, pytest.raises(StillOpen) as still_open:
        client.wait("j_1", timeout=5)
    assert still_open.value.job is not None
    assert isinstance(still_open.value.__cause__, Unreachable)
    assert sum(time.slept) < 5
