"""Caps on the live stack: no more at once than a tenant may, in order, nobody charged, nobody else kept waiting."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.e2e.client import Client
from tests.e2e.live import LiveStack

CAP = 3
"""Of a tenant in the interactive lane, as infra/config.py says."""


def spans(documents: Sequence[dict[str, Any]]) -> list[tuple[datetime, datetime]]:
    return [
        (datetime.fromisoformat(each["started_at"]), datetime.fromisoformat(each["finished_at"])) for each in documents
    ]


def most_at_once(documents: Sequence[dict[str, Any]]) -> int:
    """How many ran at the same moment, by a sweep over the starts."""
    found = spans(documents)
    return max(sum(begin <= start < end for begin, end in found) for start, _ in found)


def held(live: LiveStack, tenant: str) -> dict[str, Any]:
    """Who holds a slot of a tenant's."""
    row = live.row(f"slots#tenant#interactive#{tenant}", "slots")
    return row["held"]["M"] if row else {}


def wait_free(live: LiveStack, tenant: str, *, within: float) -> None:
    live.wait_for(lambda: not held(live, tenant), within=within)


def test_thirty_jobs_of_a_tenant_run_three_at_a_time_in_order_and_each_once(live: LiveStack, client: Client) -> None:
    wait_free(live, "bharat-bazaar", within=60)
    ids = [client.submit("probe", {"seconds": 0.4}) for _ in range(30)]
    waiting = client.wait_until(ids[-1], lambda document: document.get("reason") == "tenant_at_cap", within=30)
    assert waiting["ahead"] >= 1
    done = [client.wait_final(job_id, within=120) for job_id in ids]
    assert {(each["state"], each["attempt"], each["failures"]) for each in done} == {("succeeded", 1, 0)}
    assert most_at_once(done) <= CAP
    letters = str(live.messages("DeadLetterQueueUrl"))
    assert not [job_id for job_id in ids if job_id in letters]
    waited = sorted(done, key=lambda each: str(each["started_at"]))[CAP:]
    in_line = sorted(waited, key=lambda each: str(each["created_at"]))
    places = [in_line.index(each) for each in waited]
    # A worker that starts cold lets others pass. But nobody is before more than those who hold the other slots.
    assert all(order - place <= CAP for place, order in enumerate(places)), places
    wait_free(live, "bharat-bazaar", within=30)


def test_a_tenant_with_a_long_line_keeps_no_other_tenant_waiting(
    live: LiveStack, client: Client, stranger: Client
) -> None:
    noisy = [client.submit("probe", {"seconds": 1}) for _ in range(40)]
    client.wait_until(noisy[-1], lambda document: document.get("reason") == "tenant_at_cap", within=30)
    for _ in range(3):
        stranger.wait_final(stranger.submit("probe", {"seconds": 0.2}), within=60)
    states = [client.status(job_id)["state"] for job_id in noisy]
    assert states.count("queued") > 10, "the noisy tenant's line was done before the other's three jobs"
    for job_id in noisy:
        client.request("DELETE", f"/v1/jobs/{job_id}")
    wait_free(live, "bharat-bazaar", within=60)


def test_no_slot_is_lost_however_jobs_end(live: LiveStack, stranger: Client) -> None:
    """Cancelled in the line and at work, failed at once and in the end, hung, its worker killed: then one more runs."""
    args: list[dict[str, Any]] = [
        {"fail_times": 9, "fail_with": "permanent"},
        {"fail_times": 1, "fail_with": "transient"},
        {"fail_times": 1, "fail_with": "crash"},
        {"fail_times": 1, "fail_with": "snooze"},
        {"seconds": 30, "steps": 30},
        {"seconds": 30, "steps": 30},
    ]
    ids = [stranger.submit("probe", each) for each in args]
    stranger.wait_state(ids[-2], "running", within=90)
    for job_id in ids[-2:]:
        stranger.request("DELETE", f"/v1/jobs/{job_id}")
    for job_id in ids:
        stranger.wait_final(job_id, within=120)
    killed = stranger.submit("probe", {"seconds": 8, "steps": 8})
    stranger.wait_state(killed, "running", within=90)
    assert live.kill("worker-interactive") > 0
    assert stranger.wait_final(killed, within=120)["failures"] == 1
    wait_free(live, "coastal-crafts", within=60)
    assert stranger.wait_final(stranger.submit("probe"), within=30)["state"] == "succeeded"


def test_interactive_jobs_do_not_wait_behind_bulk_and_bulk_moves(client: Client) -> None:
    bulk = [client.submit("probe", {"seconds": 1}, lane="bulk") for _ in range(12)]
    quick = client.wait_final(client.submit("probe"), within=30)
    assert quick["state"] == "succeeded"
    assert any(client.status(job_id)["state"] == "queued" for job_id in bulk)
    assert all(client.wait_final(job_id, within=120)["state"] == "succeeded" for job_id in bulk)
