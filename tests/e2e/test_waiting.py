"""Held answers, with IAM enforced: they come with the news, and take nothing from polls and submits."""

import time
from concurrent.futures import ThreadPoolExecutor

from tests.e2e.client import Client
from tests.e2e.live import LiveStack

WAITERS = 2


def test_a_wait_ends_with_the_job_and_shows_the_signed_link(client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 3, "result_bytes": 10})
    answer = client.request("GET", f"/v1/jobs/{job_id}/wait")
    assert (answer.status, answer.document["state"]) == (200, "succeeded")
    assert answer.document["result"]["url"].startswith("/v1/results/")


def test_a_wait_ends_with_the_first_thing_that_the_client_has_not_seen(client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 30, "steps": 300})
    client.wait_state(job_id, "running", within=20)
    seen = client.request("GET", f"/v1/jobs/{job_id}").headers["etag"]
    answer = client.request("GET", f"/v1/jobs/{job_id}/wait", headers={"If-None-Match": seen})
    assert answer.status == 200
    assert answer.headers["etag"] != seen
    assert answer.document["state"] == "running"
    client.request("DELETE", f"/v1/jobs/{job_id}")
    client.wait_final(job_id, within=15)


def test_more_waits_than_can_be_held_are_refused_at_once_and_polls_go_on(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 60, "steps": 600})
    with live.functions.reserved_concurrency("waiter", WAITERS), ThreadPoolExecutor(2 * WAITERS) as pool:
        held = [pool.submit(client.request, "GET", f"/v1/jobs/{job_id}/wait?seconds=8") for _ in range(2 * WAITERS)]
        begin = time.monotonic()
        assert client.request("GET", f"/v1/jobs/{job_id}").status == 200
        assert time.monotonic() - begin < 5
        statuses = [each.result().status for each in held]
    client.request("DELETE", f"/v1/jobs/{job_id}")
    assert 1 <= statuses.count(200) <= WAITERS
    assert {each for each in statuses if each != 200} <= {429, 500, 503}
    client.wait_final(job_id, within=15)
