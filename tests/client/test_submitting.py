"""Submits and other requests that are repeated: the same key over all tries, and no try too many."""

import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest

from coatcheck_client import Coatcheck, NotUnderstood, Refused, Unreachable, Unsendable
from tests.client.server import FakeTime, Reply, ScriptedServer, client_of, document, drop, send

ACCEPTED: Reply = (202, {"Location": "/v1/jobs/j_1"}, document())


def test_a_program_needs_none_of_the_commands_libraries() -> None:
    program = "import sys, coatcheck_client; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"msgspec", "urllib3"} <= set(loaded)
    assert not {"boto3", "botocore", "coatcheck", "rich", "typer"} & set(loaded)


def test_a_job_is_submitted_with_its_key_and_all_that_was_given() -> None:
    server = ScriptedServer(ACCEPTED)
    run_at = datetime(2026, 11, 30, 6, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    with client_of(server) as client:
        job = client.submit("probe", {"n": 1}, key="once", lane="bulk", run_at=run_at, labels={"team": "tax"})
    assert (job.id, job.state, job.replayed) == ("j_1", "queued", False)
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.headers["idempotency-key"]) == ("POST", "/v1/jobs", "once")
    assert asked.headers["authorization"] == "Bearer cc_secret"
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "kind": "probe",
        "args": {"n": 1},
        "lane": "bulk",
        "run_at": "2026-11-30T06:00:00+05:30",
        "labels": {"team": "tax"},
    }


@pytest.mark.parametrize(
    "failure",
    [
        drop,
        lambda to: send(to, 202, {}, b'{"id": "j_1"', length=500),
        lambda to: send(to, 202, {}, b"", length=None),
        (429, {}, {"title": "Too many"}),
        (500, {}, b""),
        (502, {}, b"<html>"),
        (503, {}, {"message": "Service Unavailable"}),
        (504, {}, {}),
    ],
    ids=["no answer", "half an answer", "half its headers", "429", "500", "502", "503", "504"],
)
def test_what_passes_is_tried_again_with_the_same_key_and_body(failure: Reply) -> None:
    server, time = (
        ScriptedServer(failure, failure, (202, {"Idempotent-Replayed": "true"}, document("running"))),
        FakeTime(),
    )
    with client_of(server, time) as client:
        job = client.submit("probe")
    assert (job.state, job.replayed) == ("running", True)
    assert len({(each.headers["idempotency-key"], each.body) for each in server.asked}) == 1
    assert str(UUID(key := server.asked[0].headers["idempotency-key"])) == key
    assert time.slept == [0.5, 1.0]


def test_every_submit_has_a_key_of_its_own() -> None:
    server = ScriptedServer(ACCEPTED)
    with client_of(server) as client:
        client.submit("probe")
        client.submit("probe")
    assert len({each.headers["idempotency-key"] for each in server.asked}) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 415, 422])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    server, time = ScriptedServer((status, {"Retry-After": "1"}, {"title": "No"}), ACCEPTED), FakeTime()
    with client_of(server, time) as client, pytest.raises(Refused) as refused:
        client.submit("probe")
    assert (refused.value.status, len(server.asked), time.slept) == (status, 1, [])


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        ("7", 7.5),
        ("1.5", 2.0),
        ("0", 0.5),
        ("-5", 0.5),
        ("Wed, 21 Oct 2026 07:28:09 GMT", 9.5),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5),
        ("soon", 0.5),
    ],
)
def test_the_next_try_comes_when_it_was_asked_for(retry_after: str, pause: float) -> None:
    server, time = ScriptedServer((429, {"Retry-After": retry_after}, {}), ACCEPTED), FakeTime()
    with client_of(server, time) as client:
        client.submit("probe")
    assert time.slept == [pause]


def test_a_wait_beyond_the_deadline_is_the_callers_to_take() -> None:
    server, time = ScriptedServer((429, {"Retry-After": "120"}, {"title": "Too many jobs"}), ACCEPTED), FakeTime()
    with client_of(server, time) as client, pytest.raises(Refused) as refused:
        client.submit("probe")
    assert (refused.value.retry_after, time.slept) == (120, [])


def test_patience_ends() -> None:
    time = FakeTime()
    with client_of(ScriptedServer(drop), time, patience=10) as client, pytest.raises(Unreachable):
        client.submit("probe")
    assert time.slept == [0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize("key", ["", "two words", "zwölf", "x" * 256, "x\r\nHost: y"])
def test_a_key_that_is_none_is_never_sent(key: str) -> None:
    server = ScriptedServer(ACCEPTED)
    with client_of(server) as client, pytest.raises(Unsendable):
        client.submit("probe", key=key)
    assert server.asked == []


def test_a_time_without_an_offset_is_not_guessed() -> None:
    with client_of(ScriptedServer(ACCEPTED)) as client, pytest.raises(Unsendable, match="offset"):
        client.submit("probe", run_at=datetime(2026, 11, 30, 6))  # noqa: DTZ001


def test_another_servers_page_is_no_job() -> None:
    with client_of(ScriptedServer((200, {}, b"<html>Welcome</html>"))) as client, pytest.raises(NotUnderstood):
        client.job("j_1")


def test_a_job_is_asked_for_by_its_id_whatever_is_in_it() -> None:
    server = ScriptedServer((200, {}, document("running")))
    with client_of(server) as client:
        assert client.job(client.job("j_1")).state == "running"
        client.job("../kinds?x#y")
    assert server.paths == ["/v1/jobs/j_1?redirect=false"] * 2 + ["/v1/jobs/..%2Fkinds%3Fx%23y?redirect=false"]


def test_what_the_api_does_once_is_asked_for_again_when_the_answer_was_lost() -> None:
    server = ScriptedServer(drop, (202, {}, document("cancelling")), drop, (202, {}, document(retry_of="j_1")))
    with client_of(server) as client:
        assert client.cancel("j_1").state == "cancelling"
        assert client.retry("j_1").retry_of == "j_1"
    asked = [(each.method, each.path) for each in server.asked]
    assert asked == [("DELETE", "/v1/jobs/j_1")] * 2 + [("POST", "/v1/jobs/j_1/retry")] * 2


def test_a_job_that_has_ended_cannot_be_cancelled() -> None:
    with client_of(ScriptedServer((409, {}, {"title": "No"}))) as client, pytest.raises(Refused):
        client.cancel("j_1")


def test_kinds_say_what_they_take() -> None:
    kind = {"name": "probe", "description": "d", "lane": "bulk", "timeout_seconds": 60, "max_failures": 5}
    with client_of(ScriptedServer((200, {}, {"items": [{**kind, "args": {"type": "object"}, "new": 1}]}))) as client:
        (found,) = client.kinds()
    assert (found.name, found.unique, found.route, found.args) == ("probe", (), None, {"type": "object"})


def test_a_backend_names_the_tenant_that_it_acts_for() -> None:
    server = ScriptedServer(ACCEPTED)
    with server.running() as url, Coatcheck(url, "k", tenant="coastal-crafts") as client:
        client.submit("probe")
    assert server.asked[0].headers["coatcheck-tenant"] == "coastal-crafts"
