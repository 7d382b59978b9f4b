"""Pauses by the command: what runs goes on, what waits says so, and all of it finishes after the resume."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from coatcheck_client.cli import app
from coatcheck_client.trouble import Trouble
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

KNOWN_AFTER = timedelta(seconds=7)
"""By then every process knows of a pause: it looks every five seconds."""


class Command:
    def __init__(self) -> None:
        self._runner = CliRunner()

    def run(self, *arguments: str) -> Result:
        done = self._runner.invoke(app, [*arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit | Trouble), done.exception
        return done

    def paused(self) -> dict[str, list[dict[str, Any]]]:
        told: dict[str, list[dict[str, Any]]] = json.loads(self.run("pause", "--json").stdout)
        return told


@pytest.fixture
def command(live: LiveStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    monkeypatch.setenv("COATCHECK_LOCAL", str(live.project.local))
    command = Command()
    yield command
    for each in command.paused()["held"]:
        command.run("resume", each["scope"], each["name"])


def soon() -> str:
    """When jobs start that are handed in before a pause and must meet it."""
    return (datetime.now(UTC) + KNOWN_AFTER).isoformat()


def is_paused(document: dict[str, Any]) -> bool:
    return document.get("reason") == "paused"


def test_a_paused_kind_finishes_what_runs_and_starts_nothing_until_it_is_resumed(
    live: LiveStack, client: Client, command: Command
) -> None:
    running = client.submit("probe", {"seconds": 9, "steps": 9})
    client.wait_state(running, "running", within=30)
    waiting = [client.submit("probe", run_at=soon()) for _ in range(5)]
    done = command.run("pause", "kind", "probe")
    assert (done.exit_code, "1 paused" in done.stderr) == (0, True), done.stderr
    for job_id in waiting:
        document = client.wait_until(job_id, is_paused, within=30)
        assert (document["state"], document["attempt"]) == ("queued", 1)
    (held,) = live.wait_for(lambda: [each for each in command.paused()["held"] if each["jobs"] == 5], within=30)
    assert (held["scope"], held["name"], held["by"].startswith("arn:aws:")) == ("kind", "probe", True)
    assert client.wait_final(running, within=60)["state"] == "succeeded"

    other = client.submit("gst-export", {"seller_id": "48813", "period": "2026-10"})
    assert client.wait_final(other, within=120)["state"] == "succeeded"
    live.supervise()
    assert all(is_paused(client.status(job_id)) for job_id in waiting)

    done = command.run("resume", "kind", "probe")
    assert (done.exit_code, "the kind probe goes on" in done.stderr) == (0, True), done.stderr
    for job_id in waiting:
        document = client.wait_final(job_id, within=60)
        assert (document["state"], document["failures"], document["attempt"]) == ("succeeded", 0, 1)
    assert command.paused()["held"] == []


def test_jobs_that_are_in_a_paused_lanes_queue_are_taken_back_uncharged_and_history_says_who_paused_it(
    live: LiveStack, client: Client, command: Command
) -> None:
    with live.functions.paused_lane("bulk"):
        sent = [client.submit("probe", lane="bulk") for _ in range(3)]
        for job_id in sent:
            live.wait_for(lambda job_id=job_id: (live.row(job_id) or {}).get("sent") == {"N": "1"}, within=30)  # type: ignore[misc]
        later = client.submit("probe", lane="bulk", run_at=soon())
        assert command.run("pause", "lane", "bulk").exit_code == 0
        client.wait_until(later, is_paused, within=30)
    for job_id in sent:
        document = client.wait_until(job_id, is_paused, within=60)
        assert (document["state"], document["attempt"], document["failures"]) == ("queued", 2, 0)
    assert client.wait_final(client.submit("probe"), within=60)["state"] == "succeeded"
    cancelled = sent.pop()
    assert client.request("DELETE", f"/v1/jobs/{cancelled}").document["state"] == "cancelled"

    assert command.run("resume", "lane", "bulk").exit_code == 0
    for job_id in (*sent, later):
        document = client.wait_final(job_id, within=60)
        assert (document["state"], document["failures"]) == ("succeeded", 0)
    assert client.status(cancelled)["state"] == "cancelled"
    path = f"/v1/jobs/{sent[0]}/history"
    (paused,) = [each for each in client.request("GET", path).document["items"] if "act" in each]
    assert (paused["act"], paused["attempt"], paused["detail"]) == ("paused", 2, "lane bulk")
    assert paused["by"].startswith("arn:aws:")


def test_a_paused_tenant_stops_nobody_else(live: LiveStack, client: Client, stranger: Client, command: Command) -> None:
    scheduled = [each.submit("probe", run_at=soon()) for each in (client, stranger)]
    assert command.run("pause", "tenant", "coastal-crafts").exit_code == 0
    stranger.wait_until(scheduled[1], is_paused, within=30)
    assert client.wait_final(scheduled[0], within=60)["state"] == "succeeded"
    assert command.run("resume", "tenant", "coastal-crafts").exit_code == 0
    assert stranger.wait_final(scheduled[1], within=60)["state"] == "succeeded"


def test_a_typo_pauses_nothing_and_says_what_there_is(live: LiveStack, command: Command) -> None:
    for arguments, what in (
        (("pause", "kind", "gst-exprot"), "there are gst-export"),
        (("pause", "lane", "slow"), "there are bulk, interactive"),
        (("resume", "tenant", "nobody"), "is not paused"),
    ):
        done = command.run(*arguments)
        assert done.exit_code != 0
        assert what in str(done.exception) + done.stderr
    assert command.run("pause", "kind").exit_code == 2
    assert command.paused()["held"] == []
