"""GET: the status document, the way to the result, and nothing of anybody else's."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from coatcheck.job import State, StoredResult
from handlers import ports, status
from tests.coatcheck.cloud import BUCKET, Cloud
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, new_id, now

pytestmark = pytest.mark.usefixtures("aws")

KEY = "results/acme/j/report.csv.gz"


def stored_result(key: str = KEY) -> StoredResult:
    """What a job left, and the object that it names."""
    if ports.objects().head(key) is None:
        ports.objects().put(key, b"1,2", nonce="n", content_type="text/csv")
    stored = ports.objects().head(key)
    assert stored is not None
    return StoredResult(key=key, version=stored.version, bytes=3, content_type="text/csv", rows=3)


def get(job_id: str, *, result: bool = False, method: str = "GET", **more: Any) -> dict[str, Any]:
    route = f"{method} /v1/jobs/{{id}}" + ("/result" if result else "")
    return status.handler(http_event(route, path={"id": job_id}, **more), LambdaContext())


def finished(**changes: Any) -> str:
    given = {"state": State.SUCCEEDED, "finished_at": now()} | changes
    return add_job(**({"result": stored_result()} | given if "result" not in given else given)).id


def token_of(job_id: str) -> str:
    """Of the signed link in the status document."""
    url: str = body_of(get(job_id))["result"]["url"]
    assert url.startswith("/v1/results/")
    return url.rpartition("/")[2]


def opened(token: str, method: str = "GET") -> dict[str, Any]:
    """What a signed link answers to somebody without a key."""
    event = http_event(f"{method} /v1/results/{{token}}", path={"token": token}, authorizer=None)
    return status.handler(event, LambdaContext())


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_open_job_is_shown_with_when_to_ask_again(method: str) -> None:
    job_id = add_job().id
    answer = get(job_id, method=method)
    assert answer["statusCode"] == 200
    assert 2 <= int(answer["headers"]["Retry-After"]) <= 30
    assert answer["headers"]["Cache-Control"] == "no-store"
    assert (body_of(answer)["id"], body_of(answer)["state"]) == (job_id, "queued")


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_job_that_ended_without_a_result_is_shown_for_good(state: State) -> None:
    answer = get(add_job(state=state, finished_at=now()).id)
    assert answer["statusCode"] == 200
    assert "Retry-After" not in answer["headers"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_result_is_where_a_finished_job_leads(method: str) -> None:
    job_id = finished()
    answer = get(job_id, method=method)
    assert (answer["statusCode"], answer["headers"]["Location"]) == (303, f"/v1/jobs/{job_id}/result")
    assert body_of(answer)["result"]["rows"] == 3


def test_a_client_that_does_not_want_to_be_led_is_not() -> None:
    job_id = finished()
    answer = get(job_id, query={"redirect": "false"})
    assert (answer["statusCode"], "Location" in answer["headers"]) == (200, False)
    assert get(job_id, query={"redirect": "true"})["statusCode"] == 303


def test_rows_without_a_file_lead_nowhere() -> None:
    job_id = finished(result=StoredResult(rows=0))
    assert (get(job_id)["statusCode"], get(job_id, result=True)["statusCode"]) == (200, 404)


def test_a_result_is_a_link_of_minutes_to_that_very_version() -> None:
    answer = get(finished(), result=True)
    link = urlparse(answer["headers"]["Location"])
    query = parse_qs(link.query)
    assert (answer["statusCode"], answer["body"]) == (303, "")
    assert link.path.endswith("/results/acme/j/report.csv.gz")
    assert (query["versionId"], query["X-Amz-Expires"]) == ([stored_result().version], ["300"])
    assert "Content-Type" not in answer["headers"]


def test_a_link_for_head_is_signed_for_head() -> None:
    job_id = finished()
    links = {
        get(job_id, result=True, method=method)["headers"]["Location"].partition("Signature=")[2]
        for method in ("GET", "HEAD")
    }
    assert len(links) == 2


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.RETRYING, State.CANCELLING])
def test_the_result_of_a_job_that_goes_on_is_not_there_yet(state: State) -> None:
    answer = get(add_job(state=state).id, result=True)
    assert answer["statusCode"] == 409
    assert int(answer["headers"]["Retry-After"]) >= 1


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_job_that_did_not_succeed_left_no_result(state: State) -> None:
    assert get(add_job(state=state).id, result=True)["statusCode"] == 404


def test_a_result_is_gone_when_its_time_is_over_and_not_before() -> None:
    week = timedelta(days=7)
    early, late = finished(finished_at=now() - week + timedelta(minutes=1)), finished(finished_at=now() - week)
    assert (get(early, result=True)["statusCode"], get(late, result=True)["statusCode"]) == (303, 410)


@pytest.mark.parametrize("result", [False, True])
def test_another_tenants_job_is_as_unknown_as_one_that_never_was(*, result: bool) -> None:
    theirs = finished(tenant="globex")
    for job_id in (theirs, new_id(), "j_", "x" * 3000, "..", "%00", "key#acme"):
        answer = get(job_id, result=result)
        assert answer["statusCode"] == 404
        assert theirs not in answer["body"]
        assert body_of(answer)["detail"] == "there is no job of yours with this id"


def test_a_caller_who_is_not_known_sees_nothing() -> None:
    assert get(add_job().id, authorizer={"refusal": "no"})["statusCode"] == 401


def test_the_service_says_that_it_is_well_to_anybody() -> None:
    answer = status.handler(http_event("GET /v1/health", authorizer=None), LambdaContext())
    assert (answer["statusCode"], body_of(answer)) == (200, {"status": "ok"})


def test_an_address_without_anything_is_a_404() -> None:
    assert status.handler(http_event("GET /v1/other"), LambdaContext())["statusCode"] == 404


def test_a_file_that_was_stored_is_the_one_that_the_link_names() -> None:
    result = stored_result("results/acme/j9/a b.csv")
    link = urlparse(get(finished(result=result), result=True)["headers"]["Location"])
    assert parse_qs(link.query)["versionId"] == [result.version]
    assert "filename*=UTF-8''a%20b.csv" in parse_qs(link.query)["response-content-disposition"][0]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_signed_link_leads_to_the_file_without_a_key(method: str) -> None:
    job_id = finished()
    answer = opened(token_of(job_id), method)
    assert (answer["statusCode"], answer["body"]) == (303, "")
    assert urlparse(answer["headers"]["Location"]).path.endswith(KEY)
    assert answer["headers"]["Cache-Control"] == "no-store"


def test_a_forged_link_is_a_403_and_an_expired_one_a_410() -> None:
    job_id = finished()
    token = token_of(job_id)
    other = finished(tenant="globex")
    for forged in (token.replace(job_id, other), token[:-1], "x", "%2e%2e", "\ud800", "ü" * 100):
        answer = opened(forged)
        assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (403, "application/problem+json")
    assert opened(ports.sign(job_id, now() - timedelta(seconds=1)))["statusCode"] == 410


def test_a_link_past_retention_is_a_410_however_long_it_was_signed_for() -> None:
    old = finished(finished_at=now() - timedelta(days=7))
    assert "url" not in body_of(get(old))["result"]
    assert opened(ports.sign(old, now() + timedelta(hours=1)))["statusCode"] == 410
    assert opened(ports.sign(new_id(), now() + timedelta(hours=1)))["statusCode"] == 410


def test_a_result_that_was_deleted_is_a_410_and_no_link_to_an_error_of_s3(aws: Cloud) -> None:
    key = "results/acme/deleted/report.csv"
    job_id = finished(result=stored_result(key))
    token = token_of(job_id)
    aws.s3.delete_object(Bucket=BUCKET, Key=key)
    for answer in (opened(token), opened(token, "HEAD"), get(job_id, result=True)):
        assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (410, "application/problem+json")
        assert "Location" not in answer["headers"]


def test_an_object_that_took_a_results_place_is_not_the_result(aws: Cloud) -> None:
    key = "results/acme/replaced/report.csv"
    job_id = finished(result=stored_result(key))
    aws.s3.put_object(Bucket=BUCKET, Key=key, Body=b"other")
    assert get(job_id, result=True)["statusCode"] == 410


def test_a_poll_of_a_finished_job_knows_what_it_has_seen_although_each_link_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job_id = finished()
    first = get(job_id, query={"redirect": "false"})
    monkeypatch.setattr(ports, "sign", lambda job_id, _: f"{job_id}.another")
    again = get(job_id, query={"redirect": "false"}, headers={"if-none-match": first["headers"]["ETag"]})
    assert again["statusCode"] == 304


def test_a_poll_that_would_see_nothing_new_is_answered_without_a_body() -> None:
    job_id = add_job().id
    tag = get(job_id)["headers"]["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = get(job_id, headers={"if-none-match": known})
        assert (answer["statusCode"], answer["body"], answer["headers"]["ETag"]) == (304, "", tag)
        assert "Retry-After" in answer["headers"]
    assert get(job_id, headers={"if-none-match": '"other"'})["statusCode"] == 200


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("PATCH", "/v1/jobs/j_1", "DELETE, GET, HEAD"),
        ("PUT", "/v1/jobs", "GET, POST"),
        ("POST", "/v1/kinds", "GET"),
        ("PUT", "/v1/reports/probe", "POST"),
        ("POST", "/v1/jobs/j_1/result", "GET, HEAD"),
    ],
)
def test_a_method_that_an_address_does_not_take_is_refused_by_naming_those_it_takes(
    method: str, address: str, allowed: str
) -> None:
    event = http_event("$default", authorizer=None) | {"rawPath": address}
    event["requestContext"]["http"]["method"] = method
    answer: dict[str, Any] = status.handler(event, LambdaContext())
    assert (answer["statusCode"], answer["headers"]["Allow"]) == (405, allowed)
    assert answer["headers"]["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("address", ["/", "/v2/jobs", "/v1/jobs/", "/v1/jobs/a/b", "/v1/jobs/../admin"])
def test_an_address_with_nothing_at_it_is_a_404_with_a_problem(address: str) -> None:
    answer: dict[str, Any] = status.handler(
        http_event("$default", authorizer=None) | {"rawPath": address}, LambdaContext()
    )
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (404, "application/problem+json")
