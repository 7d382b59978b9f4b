"""Lists over real HTTP, with IAM enforced: pages while jobs are added, filters, kinds, and the pace of polls."""

import secrets
from urllib.parse import urlencode

import pytest

from coatcheck_client.api import Answer
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


@pytest.fixture
def run() -> str:
    """A label's value that no other test uses."""
    return secrets.token_hex(8)


def page(client: Client, path: str) -> tuple[list[str], Answer]:
    answer = client.request("GET", path)
    assert answer.status == 200, answer.body.decode()
    return [item["id"] for item in answer.document["items"]], answer


def test_pages_lose_and_repeat_nothing_while_jobs_are_added_and_show_no_other_tenants(
    live: LiveStack, client: Client, stranger: Client, run: str
) -> None:
    labels = {"run": run}
    ours = [client.submit("probe", labels=labels) for _ in range(8)]
    theirs = [stranger.submit("probe", labels=labels) for _ in range(3)]
    query = urlencode({"label": f"run:{run}", "limit": 3})
    live.wait_for(lambda: len(list(client.library.jobs(labels=labels))) == len(ours), within=10)
    found: list[str] = []
    added: list[str] = []
    path: str | None = f"/v1/jobs?{query}"
    while path is not None:
        ids, answer = page(client, path)
        found += ids
        added.append(client.submit("probe", labels=labels))
        theirs.append(stranger.submit("probe", labels=labels))
        path = answer.next
    assert found == sorted(ours, reverse=True)
    live.wait_for(lambda: len(list(client.library.jobs(labels=labels))) == len(ours + added), within=10)
    assert [job.id for job in client.library.jobs(labels=labels)] == sorted(ours + added, reverse=True)
    assert [job.id for job in stranger.library.jobs(labels=labels)] == sorted(theirs, reverse=True)


def test_filters_may_be_repeated_and_items_are_status_documents(client: Client, run: str) -> None:
    done = client.submit("probe", labels={"run": run, "team": "tax, north"})
    client.wait_state(done, "succeeded", within=20)
    for filters in (
        [("label", f"run:{run}"), ("label", "team:tax, north")],
        [("label", f"run:{run}"), ("state", "failed"), ("state", "succeeded")],
        [("label", f"run:{run}"), ("kind", "gst-export"), ("kind", "probe")],
    ):
        ids, answer = page(client, f"/v1/jobs?{urlencode(filters)}")
        assert ids == [done], filters
        assert answer.document["items"][0]["labels"] == client.status(done)["labels"]
    assert page(client, f"/v1/jobs?{urlencode([('label', f'run:{run}'), ('state', 'failed')])}")[0] == []


@pytest.mark.parametrize(
    "query",
    ["state=done", "limit=0", "limit=x", "cursor=AAAA", "label=x", "kind=%00", "offset=1", "state=%F0%9F%8E%9F"],
)
def test_a_bad_parameter_is_a_problem_that_names_it(client: Client, query: str) -> None:
    answer = client.request("GET", f"/v1/jobs?{query}")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.document["errors"][0]["pointer"] == f"?{query.partition('=')[0]}"


def test_the_kinds_are_shown_with_what_they_take(client: Client) -> None:
    answer = client.request("GET", "/v1/kinds")
    assert answer.status == 200
    kinds = {kind["name"]: kind for kind in answer.document["items"]}
    assert kinds["gst-export"]["route"] == "/v1/reports/gst-export"
    assert "period" in str(kinds["gst-export"]["args"])
    assert {"gst-export", "probe"} <= set(kinds)


def test_the_supervisor_counts_the_open_jobs_and_polls_are_told_how_long_to_wait(
    live: LiveStack, client: Client
) -> None:
    with live.functions.paused_lane("bulk"):
        waiting = [client.submit("probe", lane="bulk") for _ in range(3)]
        live.supervise()
        load = live.row("load", "load")
        assert load is not None
        assert int(load["open_jobs"]["N"]) >= len(waiting)
        answer = client.request("GET", f"/v1/jobs/{waiting[0]}")
        assert 2 <= int(answer.headers["retry-after"]) <= 30
        for job_id in waiting:
            assert client.request("DELETE", f"/v1/jobs/{job_id}").status == 200
