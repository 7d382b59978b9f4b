"""A job's history on the live stack: the stream's second reader, from the transition to the answer."""

from typing import Any

from tests.e2e.client import Client
from tests.e2e.live import LiveStack


def entries(client: Client, job_id: str) -> list[dict[str, Any]]:
    answer = client.request("GET", f"/v1/jobs/{job_id}/history")
    assert answer.status == 200, answer.body.decode()
    return list(answer.document["items"])


def states(client: Client, job_id: str) -> list[tuple[str, int]]:
    return [(entry["state"], entry["attempt"]) for entry in entries(client, job_id)]


def settled(live: LiveStack, job_id: str) -> None:
    """Both of the stream's readers have done what a final row is owed."""
    live.wait_for(lambda: "due" not in (live.row(job_id) or {}), within=15)


def forget_telling(live: LiveStack, job_id: str) -> None:
    """Make the row of a job that has ended as it is when its last record never reached the recorder."""
    live.deployment.dynamodb.update_item(
        TableName=live.deployment.output("JobsTable"),
        Key={"id": {"S": job_id}, "item": {"S": "job"}},
        UpdateExpression="SET #due = :past, #told = :no",
        ExpressionAttributeNames={"#due": "due", "#told": "told"},
        ExpressionAttributeValues={":past": {"N": "1"}, ":no": {"BOOL": False}},
    )


def test_a_job_that_fails_twice_has_its_whole_way_in_order(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"fail_times": 2})
    document = client.wait_state(job_id, "succeeded", within=45)
    way = [
        ("queued", 1), ("running", 1), ("retrying", 2), ("queued", 2), ("running", 2),
        ("retrying", 3), ("queued", 3), ("running", 3), ("succeeded", 3),
    ]  # fmt: skip
    live.wait_for(lambda: states(client, job_id) == way, within=15)
    settled(live, job_id)
    told = entries(client, job_id)
    assert [(entry["state"], entry["attempt"]) for entry in told] == way
    assert [entry["error"]["type"] for entry in told if entry["state"] == "retrying"] == ["TransientFault"] * 2
    assert [entry.get("cause") for entry in told if entry["state"] == "queued"] == [None, "retry_due", "retry_due"]
    assert [entry["at"] for entry in told] == sorted(entry["at"] for entry in told)
    assert told[0]["by"] == document["requested_by"]
    assert told[-1]["at"] == document["finished_at"]


def test_a_worker_that_is_killed_and_who_cancels_are_told(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 40, "steps": 200})
    client.wait_state(job_id, "running", within=15)
    assert live.kill("worker-interactive") > 0
    client.wait_until(job_id, lambda document: document["attempt"] == 2, within=45)
    client.wait_state(job_id, "running", within=45)
    assert client.request("DELETE", f"/v1/jobs/{job_id}").status == 202
    client.wait_state(job_id, "cancelled", within=30)
    way = [("queued", 1), ("running", 1), ("queued", 2), ("running", 2), ("cancelling", 2), ("cancelled", 2)]
    live.wait_for(lambda: states(client, job_id) == way, within=15)
    told = entries(client, job_id)
    assert (told[2]["cause"], told[2]["error"]["type"], told[2]["failures"]) == ("taken_over", "worker_died", 1)
    assert told[4]["by"] == told[5]["by"] == told[0]["by"]
    settled(live, job_id)


def test_nobody_else_reads_it(client: Client, stranger: Client) -> None:
    job_id = client.submit("probe")
    assert stranger.request("GET", f"/v1/jobs/{job_id}/history").status == 404


def test_an_end_that_the_stream_lost_is_told_by_the_supervisor(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe")
    client.wait_state(job_id, "succeeded", within=30)
    settled(live, job_id)
    forget_telling(live, job_id)
    live.supervise()
    row = live.row(job_id) or {}
    assert (row["told"], "due" in row) == ({"BOOL": True}, False)
