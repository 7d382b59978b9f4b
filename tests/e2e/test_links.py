"""Signed links to results, with IAM enforced: no key is asked for, and nothing but that result can be had."""

import re
from urllib.parse import parse_qs, urlparse

import pytest

from coatcheck_client import Coatcheck
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


@pytest.fixture
def nobody(live: LiveStack) -> Client:
    """Somebody without a key."""
    return Client(Coatcheck(live.stack.api_url, None))


@pytest.fixture(scope="module")
def finished(client: Client) -> str:
    job_id = client.submit("probe", {"result_bytes": 1000})
    client.wait_state(job_id, "succeeded", within=30)
    return job_id


def address(client: Client, job_id: str) -> str:
    return str(client.status(job_id)["result"]["url"])


def test_whoever_holds_the_link_gets_the_file_and_its_head(client: Client, nobody: Client, finished: str) -> None:
    link = address(client, finished)
    for method, size in (("GET", 1000), ("HEAD", 0)):
        led = nobody.request(method, link)
        assert led.status == 303, led.body
        answer = nobody.request(method, led.headers["location"])
        assert (answer.status, answer.headers["content-length"], len(answer.body)) == (200, "1000", size)
        # the emulator does not answer with it
        (disposition,) = parse_qs(urlparse(led.headers["location"]).query)["response-content-disposition"]
        assert re.fullmatch(r"attachment; filename=\"[^\"/]+\"; filename\*=UTF-8''[^\s/]+", disposition)


def test_each_link_opens_its_own_result_alone(client: Client, nobody: Client, finished: str) -> None:
    other = client.submit("probe", {"result_bytes": 10})
    client.wait_state(other, "succeeded", within=30)
    forged = address(client, finished).replace(finished, other)
    for link in (forged, f"{address(client, finished)}x", "/v1/results/x", "/v1/results/%00"):
        answer = nobody.request("GET", link)
        assert (answer.status, answer.headers["content-type"]) == (403, "application/problem+json")


def test_a_replay_shows_the_link_too(client: Client, nobody: Client) -> None:
    """Submit signs with the same key as status."""
    job_id = client.submit("probe", {"result_bytes": 10}, key="linked")
    client.wait_state(job_id, "succeeded", within=30)
    again = client.post("probe", {"result_bytes": 10}, key="linked")
    assert (again.status, again.document["id"]) == (202, job_id)
    assert nobody.request("GET", again.document["result"]["url"]).status == 303


def test_a_result_that_was_deleted_is_gone(live: LiveStack, client: Client, nobody: Client) -> None:
    job_id = client.submit("probe", {"result_bytes": 10})
    client.wait_state(job_id, "succeeded", within=30)
    link = address(client, job_id)
    assert live.delete_results(f"results/bharat-bazaar/{job_id}/") >= 1
    for answer in (nobody.request("GET", link), client.request("GET", f"/v1/jobs/{job_id}/result")):
        assert (answer.status, answer.headers["content-type"]) == (410, "application/problem+json")


def test_a_function_that_signs_nothing_may_not_read_the_key(live: LiveStack) -> None:
    """The emulator enforces what the template grants: submit and status hold the secret's ARN, cancel does not."""
    functions = live.deployment.functions
    told = {
        name
        for each in functions.list_functions()["Functions"]
        for name in [each["FunctionName"].rpartition("-")[2]]
        if "LINK_SECRET_ARN" in each["Environment"]["Variables"]
    }
    assert {"submit", "status"} <= told
    assert told.isdisjoint({"cancel", "authorizer", "dispatcher", "supervisor", "interactive", "bulk"})
