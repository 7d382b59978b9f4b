"""Jobs from POST to their end, over real HTTP, with IAM enforced."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from tests.e2e.client import Client
from tests.e2e.live import LiveStack


@pytest.mark.parametrize("lane", ["interactive", "bulk"])
def test_a_job_goes_from_post_to_its_file_in_either_lane(live: LiveStack, client: Client, lane: str) -> None:
    accepted = client.post("probe", {"result_bytes": 1000}, lane=lane)
    assert accepted.status == 202
    assert accepted.headers["location"] == f"/v1/jobs/{accepted.document['id']}"
    assert int(accepted.headers["retry-after"]) >= 1
    job_id = str(accepted.document["id"])
    done = client.wait_state(job_id, "succeeded", within=30)
    assert (done["lane"], done["attempt"], done["failures"]) == (lane, 1, 0)
    assert done["result"]["bytes"] == len(client.result(job_id)) == 1000
    live.wait_for(lambda: (row := live.row(job_id)) is not None and "due" not in row, within=15)
    assert not [letter for letter in live.messages("DeadLetterQueueUrl") if job_id in str(letter)]


def test_the_same_key_twice_is_one_job(client: Client) -> None:
    first = client.post("probe", {"seconds": 0, "steps": 2}, key="twice-1")
    again = client.request(
        "POST",
        "/v1/jobs",
        body=b'{"args": {"steps": 2.0, "seconds": 0.0}, "kind": "\\u0070robe"}',
        headers={"Content-Type": "application/json", "Idempotency-Key": "twice-1"},
    )
    assert (first.status, again.status) == (202, 202)
    assert first.document["id"] == again.document["id"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    other = client.post("probe", {"steps": 3}, key="twice-1")
    assert (other.status, other.headers["content-type"]) == (422, "application/problem+json")


def test_the_same_key_twenty_times_at_once_is_one_job(client: Client) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: client.post("probe", {"steps": 4}, key="at-once"), range(20)))
    assert {answer.status for answer in answers} == {202}
    assert len({answer.document["id"] for answer in answers}) == 1


def test_another_tenants_job_is_unknown(client: Client, stranger: Client) -> None:
    job_id = client.submit("probe")
    for method, path in (("GET", ""), ("GET", "/result"), ("DELETE", "")):
        answer = stranger.request(method, f"/v1/jobs/{job_id}{path}")
        assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert client.wait_final(job_id, within=20)["state"] == "succeeded"


def test_two_tenants_may_use_the_same_key(client: Client, stranger: Client) -> None:
    assert client.submit("probe", key="shared") != stranger.submit("probe", key="shared")


def test_a_queued_job_is_cancelled_at_once_and_stays_so(live: LiveStack, client: Client) -> None:
    with live.functions.paused_lane("bulk"):
        job_id = client.submit("probe", lane="bulk")
        assert client.request("DELETE", f"/v1/jobs/{job_id}").status == 200
    again = client.request("DELETE", f"/v1/jobs/{job_id}")
    assert (again.status, again.document["state"]) == (200, "cancelled")
    done = client.submit("probe")
    client.wait_state(done, "succeeded", within=20)
    assert client.request("DELETE", f"/v1/jobs/{done}").status == 409


def test_a_running_job_stops_when_it_is_asked_to(client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 40, "steps": 400})
    client.wait_state(job_id, "running", within=20)
    asked = client.request("DELETE", f"/v1/jobs/{job_id}")
    assert (asked.status, asked.document["state"]) == (202, "cancelling")
    done = client.wait_final(job_id, within=15)
    assert (done["state"], done["failures"]) == ("cancelled", 0)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'{"kind": "no-such-kind"}', "/kind"),
        (b'{"kind": "probe", "args": {"seconds": -1}}', "/args/seconds"),
        (b'{"kind": "probe", "args": {"unknown": 1}}', "/args/unknown"),
        (b'{"kind": "probe", "lane": "fast"}', "/lane"),
        (b'{"kind": "probe", "notify": {"webhook": true}}', "/notify"),
    ],
)
def test_a_bad_request_is_refused_with_a_pointer(client: Client, body: bytes, pointer: str) -> None:
    answer = client.request("POST", "/v1/jobs", body=body, headers={"Content-Type": "application/json"})
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.document["errors"][0]["pointer"] == pointer


def test_a_wrong_key_gets_a_problem_that_says_what_to_do(live: LiveStack, client: Client) -> None:
    headers = {"Authorization": f"Bearer cc_{'x' * 43}"}
    answer = client.request("GET", "/v1/jobs/j_00000000000000000000000000", headers=headers)
    assert (answer.status, answer.headers["content-type"]) == (401, "application/problem+json")
    assert "API key" in answer.document["detail"]


def test_a_whole_short_job_costs_at_most_twelve_aws_calls_and_four_of_the_recorder(live: LiveStack) -> None:
    """Counted inside the functions, without authorizer and polls. Some look up pauses and limits every few seconds."""
    slots = "slots#tenant#interactive#hill-spices"
    live.wait_for(lambda: "waits_at" not in (live.row(slots, "slots") or {}), within=180)  # nobody has waited lately
    with live.client("hill-spices") as client:
        counted = [_calls_of_a_short_job(live, client) for _ in range(4)]
    calls = min(counted, key=Counter.total)
    assert calls["probe"] == 3  # claim, the message's first hiding, settle
    refused = calls["Conclude"] == 4  # the recorder wrote between the ring's read and its write
    submit = 2
    assert submit + calls.total() - calls["Record"] <= 12 + refused
    assert min(each["Record"] for each in counted) <= 4


def _calls_of_a_short_job(live: LiveStack, client: Client) -> Counter[str]:
    job_id = client.submit("probe", {"checkpoint": False})
    client.wait_state(job_id, "succeeded", within=20)
    live.wait_for(lambda: (row := live.row(job_id)) is not None and "due" not in row, within=15)
    return live.wait_for(lambda: _calls_by_step(live, job_id), within=20)


def _calls_by_step(live: LiveStack, job_id: str) -> Counter[str]:
    """What each step of a job cost, once its end was both concluded and told; nothing before that."""
    calls: Counter[str] = Counter()
    records = 0
    for text in live.log_lines():
        if job_id in text and '"calls"' in text and text.startswith("{"):
            line = msgspec.json.decode(text)
            calls[line.get("step") or line["kind"]] += sum(line["calls"].values())
            records += line.get("step") == "Record"
    return calls if "Conclude" in calls and records == 2 else Counter()
