"""Dead letters: found, tried again, thrown away, by the command and by hand."""

import json

import pytest
from typer.testing import CliRunner, Result

from coatcheck_client.cli import app
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


@pytest.fixture
def command(live: LiveStack, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("COATCHECK_LOCAL", str(live.project.local))
    return CliRunner()


def failed(live: LiveStack, client: Client) -> str:
    """A job that has failed for good, with a budget of one failure; so will the one that is made of it."""
    with live.functions.paused_lane("bulk"):
        job_id = client.submit("probe", {"fail_times": 99}, lane="bulk")
        live.set_number(job_id, "max_failures", 1)
    client.wait_state(job_id, "failed", within=60)
    return job_id


def dlq(command: CliRunner, *arguments: str) -> Result:
    done = command.invoke(app, ["dlq", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def listed(command: CliRunner, *arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in dlq(command, "list", "--json", *arguments).stdout.splitlines()]


def test_a_job_that_failed_for_good_is_found_tried_again_once_and_its_letter_is_gone(
    live: LiveStack, client: Client, command: CliRunner
) -> None:
    job_id = failed(live, client)
    (letter,) = live.wait_for(lambda: [each for each in listed(command) if each["job_id"] == job_id], within=30)
    assert (letter["kind"], letter["error_type"], letter["failures"]) == ("probe", "attempts_exhausted", 1)
    assert (shown := json.loads(dlq(command, "show", job_id).stdout))["letter"]["tenant"] == "bharat-bazaar"
    assert (shown["job"]["state"], shown["history"][-1]["state"]) == ("failed", "failed")
    assert "would be tried again: 1 job, 1 message" in dlq(command, "redrive", job_id, "--dry-run").stderr
    assert listed(command, "--error", "never_started") == []

    done = dlq(command, "redrive", job_id)
    assert done.exit_code == 0, done.stderr
    new = str(client.status(job_id)["retried_as"])
    assert new in done.stdout
    assert client.status(new)["retry_of"] == job_id
    assert client.request("POST", f"/v1/jobs/{job_id}/retry").document["id"] == new
    assert job_id not in [each["job_id"] for each in listed(command)]
    noted = [each for each in client.request("GET", f"/v1/jobs/{job_id}/history").document["items"] if "act" in each]
    assert [(each["act"], each["detail"]) for each in noted] == [("redriven", new)]

    client.wait_state(new, "failed", within=60)
    live.wait_for(lambda: [each for each in listed(command) if each["job_id"] == new], within=30)
    assert "thrown away: 1 message" in dlq(command, "purge", new, "--yes").stderr
    assert new not in [each["job_id"] for each in listed(command)]
    assert client.status(new)["state"] == "failed"


def test_a_letter_that_is_moved_to_its_lane_by_hand_tries_the_job_again(live: LiveStack, client: Client) -> None:
    job_id = failed(live, client)
    live.wait_for(lambda: live.move_letter(job_id, "interactive"), within=30)
    new = live.wait_for(lambda: client.status(job_id).get("retried_as"), within=30)
    client.wait_state(str(new), "failed", within=30)
