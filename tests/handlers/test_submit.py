"""POST: a ticket in one answer, or a problem that says what to send instead."""

import gzip
import json
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.job import State
from handlers import submit
from tests.coatcheck.cloud import BUSY, Cloud, troubled
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import job_in_table, new_id

pytestmark = pytest.mark.usefixtures("aws")

PROBE = {"kind": "probe", "args": {"steps": 2}}


def post(
    body: Any,
    *,
    route: str = "POST /v1/jobs",
    key: str | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    named = {} if key is None else {"idempotency-key": key}
    return submit.handler(http_event(route, body=text, headers=named | (headers or {}), **more), LambdaContext())


def problem(answer: dict[str, Any], status: int) -> dict[str, Any]:
    assert answer["statusCode"] == status
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    document = body_of(answer)
    assert document["status"] == status
    assert document["type"].startswith("urn:coatcheck:problem:")
    assert document["title"]
    assert document["detail"]
    assert document["request_id"] == answer["headers"]["Coatcheck-Request-Id"] != ""
    return document


def test_a_job_is_accepted_with_its_ticket_and_when_to_ask() -> None:
    answer = post(PROBE)
    document = body_of(answer)
    assert answer["statusCode"] == 202
    assert answer["headers"]["Location"] == f"/v1/jobs/{document['id']}"
    assert int(answer["headers"]["Retry-After"]) >= 1
    assert answer["headers"]["Content-Type"] == "application/json"
    assert answer["headers"]["Cache-Control"] == "no-store"
    assert "Idempotent-Replayed" not in answer["headers"]
    assert (document["state"], document["kind"], document["requested_by"]) == ("queued", "probe", "key …abcd")
    job = job_in_table(document["id"])
    assert (job.tenant, job.args) == ("acme", '{"steps":2}')


def test_the_same_key_and_request_is_answered_with_the_same_job_and_says_so() -> None:
    key = new_id()
    first, again = post(PROBE, key=key), post(json.dumps(PROBE, indent=2), key=key)
    assert body_of(first)["id"] == body_of(again)["id"]
    assert again["statusCode"] == 202
    assert again["headers"]["Idempotent-Replayed"] == "true"
    assert again["headers"]["Location"] == first["headers"]["Location"]


def test_a_kinds_own_route_takes_its_args_as_the_body_and_names_faults_there() -> None:
    document = body_of(post({"steps": 3}, route="POST /v1/reports/probe"))
    assert (document["kind"], job_in_table(document["id"]).args) == ("probe", '{"steps":3}')
    refused = problem(post({"steps": 0, "stepz": 1}, route="POST /v1/reports/probe"), 400)
    assert {fault["pointer"] for fault in refused["errors"]} == {"/steps", "/stepz"}


def test_a_body_may_come_encoded() -> None:
    answer = post(json.dumps(PROBE), encoded=True, headers={"content-type": "Application/JSON; charset=utf-8"})
    assert answer["statusCode"] == 202


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"args": {}}, ["/kind"]),
        ({"kind": "no-such-kind"}, ["/kind"]),
        ({"kind": "probe", "args": {"steps": 0}}, ["/args/steps"]),
        (
            {"kind": "probe", "args": {"steps": 0, "seconds": -1, "color": "red"}},
            ["/args/color", "/args/seconds", "/args/steps"],
        ),
        ({"kind": "probe", "lane": "express"}, ["/lane"]),
        ({"kind": "probe", "notify": {"webhook": True}}, ["/notify"]),
        ({"kind": "probe", "args": []}, ["/args"]),
    ],
)
def test_a_bad_request_names_each_fault_by_a_pointer(body: dict[str, Any], pointers: list[str]) -> None:
    document = problem(post(body), 400)
    assert sorted(fault["pointer"] for fault in document["errors"]) == pointers


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        '"text"',
        '{"kind":"probe","args":{"seconds":NaN}}',
        '{"kind":"probe","args":{"seconds":1e999}}',
        '{"kind":"probe","kind":"probe"}',
        '{"kind":"probe","args":{"steps":' + "9" * 5000 + "}}",
        '{"kind":"probe","args":{"steps":-Infinity}}',
        '{"kind":"probe","args":{"steps":1,"steps":2}}',
        '{"a":' * 900 + "1" + "}" * 900,
        '{"kind":"probe","args":{"steps":' + "[" * 62 + "]" * 62 + "}}",
        "[" * 100_000,
        '{"kind":"\\ud800"}',
        '{"kind":"pro\\u0000be"}',
        "\ufeff{}",
    ],
)
def test_a_body_that_is_not_strictly_json_is_refused(body: str) -> None:
    problem(post(body), 400)


def test_decimal_and_huge_numbers_are_kept_exactly_or_a_bad_request_and_never_a_500() -> None:
    for steps in (30.4, 1e200, 10**40):
        refused = problem(post({"kind": "probe", "args": {"steps": steps}}), 400)
        assert [fault["pointer"] for fault in refused["errors"]] == ["/args/steps"]
    for number in ("30.40", "0.1", "1e-7", "0.30000000000000004"):
        accepted = post(f'{{"kind":"probe","args":{{"seconds":{number}}}}}')
        assert json.loads(job_in_table(body_of(accepted)["id"]).args or "") == {"seconds": float(number)}


def test_zero_is_an_arg_like_any_other_and_not_taken_for_none() -> None:
    nothing = {"seconds": 0, "fail_times": 0, "result_bytes": 0}
    job = job_in_table(body_of(post({"kind": "probe", "args": nothing}))["id"])
    assert json.loads(job.args or "") == nothing
    problem(post({"kind": "probe", "args": {"steps": 0}}), 400)
    problem(post({"kind": "probe", "priority": 0, "delay_seconds": 0}), 400)


def test_bytes_that_are_no_text_are_refused() -> None:
    problem(post(b"\xff\xfe{}", encoded=True), 400)
    problem(submit.handler(http_event("POST /v1/jobs", body="%%%") | {"isBase64Encoded": True}, LambdaContext()), 400)


@pytest.mark.parametrize("media_type", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"])
def test_what_is_not_sent_as_json_is_refused_with_what_is_taken(media_type: str) -> None:
    answer = post(PROBE, headers={"content-type": media_type})
    problem(answer, 415)
    assert answer["headers"]["Accept-Post"] == "application/json"


def test_a_compressed_body_is_refused_with_what_is_taken() -> None:
    answer = post(gzip.compress(json.dumps(PROBE).encode()), encoded=True, headers={"content-encoding": "gzip"})
    problem(answer, 415)
    assert answer["headers"]["Accept-Encoding"] == "identity"
    assert post(PROBE, headers={"content-encoding": "identity"})["statusCode"] == 202


def test_a_body_over_256_kb_is_too_large() -> None:
    problem(post(json.dumps(PROBE) + " " * 256 * 1024), 413)
    assert post(json.dumps(PROBE) + " " * 1024)["statusCode"] == 202


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 256, "k" * 3000, "ключ", "🎟", "a\r\nb", "a\0"])
def test_an_odd_key_is_refused_and_never_becomes_one_that_clients_share(key: str) -> None:
    assert "Idempotency-Key" in problem(post(PROBE, key=key), 400)["detail"]


def test_two_keys_which_the_gateway_joins_are_one_key_that_neither_alone_is() -> None:
    one, other = new_id(), new_id()
    joined = body_of(post(PROBE, key=f"{one},{other}"))
    assert body_of(post(PROBE, key=f"{one},{other}"))["id"] == joined["id"]
    assert joined["id"] not in (body_of(post(PROBE, key=one))["id"], body_of(post(PROBE, key=other))["id"])


def test_a_key_of_another_request_is_refused() -> None:
    key = new_id()
    post(PROBE, key=key)
    problem(post({"kind": "probe", "args": {"steps": 3}}, key=key), 422)


def test_an_open_job_with_the_same_natural_key_and_other_args_is_named() -> None:
    report = {"kind": "monthly-report", "args": {"seller_id": "7"}}
    first = body_of(post(report))
    assert body_of(post(report))["id"] == first["id"]
    other = problem(post({"kind": "monthly-report", "args": {"seller_id": "7", "note": "x"}}), 409)
    assert first["id"] in other["detail"]


@pytest.mark.parametrize(
    "authorizer", [None, {}, {"refusal": "this API key is not known: it was revoked, or mistyped"}]
)
def test_a_caller_who_is_not_known_is_told_what_to_send(authorizer: dict[str, str] | None) -> None:
    answer = post(PROBE, authorizer=authorizer)
    document = problem(answer, 401)
    assert answer["headers"]["WWW-Authenticate"].startswith("Bearer")
    assert document["detail"] == (authorizer or {}).get("refusal", "send an API key: Authorization: Bearer cc_…")


def test_the_tenant_comes_from_the_credential_and_never_from_the_body() -> None:
    problem(post(PROBE | {"tenant": "globex"}), 400)


def test_a_service_behind_that_is_in_trouble_is_a_503_with_a_hint() -> None:
    with troubled(clients.dynamodb(), *[BUSY] * 5):
        answer = post(PROBE)
    problem(answer, 503)
    assert int(answer["headers"]["Retry-After"]) >= 1


def test_a_fault_of_ours_is_a_500_that_tells_nothing_of_the_inside() -> None:
    with troubled(clients.dynamodb(), (400, {"__type": "AccessDeniedException", "message": "secret arn"})):
        answer = post(PROBE)
    problem(answer, 500)
    assert "secret" not in answer["body"]


def test_a_replay_of_a_finished_job_still_says_when_to_ask(aws: Cloud) -> None:
    key = new_id()
    job_id = body_of(post(PROBE, key=key))["id"]
    aws.dynamodb.update_item(
        TableName="jobs",
        Key={"id": {"S": job_id}, "item": {"S": "job"}},
        UpdateExpression="SET #s = :s",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":s": {"S": State.FAILED.value}},
    )
    answer = post(PROBE, key=key)
    assert (answer["statusCode"], body_of(answer)["state"]) == (202, "failed")
    assert int(answer["headers"]["Retry-After"]) >= 1
