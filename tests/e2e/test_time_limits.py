"""Whatever a handler does, its attempt ends: real processes that hang, in the local stack's time."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.e2e.client import Client
from tests.e2e.live import LiveStack

HANGS = {"fail_times": 1, "fail_with": "hang"}


@pytest.fixture
def long_ago() -> int:
    return round((datetime.now(UTC) - timedelta(days=31)).timestamp() * 1000)


def test_a_handler_that_hangs_is_ended_and_the_next_attempt_does_better(client: Client) -> None:
    job_id = client.submit("probe", HANGS)
    hung = client.wait_state(job_id, "retrying", within=40)
    assert (hung["error"]["type"], hung["failures"]) == ("stalled", 1)
    done = client.wait_final(job_id, within=30)
    assert (done["state"], done["attempt"], done["failures"]) == ("succeeded", 2, 1)


@pytest.mark.parametrize("ending", ["hang", "hang_in_c"])
def test_a_job_that_hangs_is_cancelled_although_its_handler_never_answers(client: Client, ending: str) -> None:
    job_id = client.submit("probe", HANGS | {"fail_with": ending}, lane="bulk")
    client.wait_state(job_id, "running", within=20)
    answer = client.request("DELETE", f"/v1/jobs/{job_id}")
    assert (answer.status, answer.document["state"]) == (202, "cancelling")
    done = client.wait_final(job_id, within=30)
    assert (done["state"], done["failures"]) == ("cancelled", 0)


def test_a_job_over_its_running_time_fails_for_good_and_leaves_a_dead_letter(live: LiveStack, client: Client) -> None:
    """One that looks at no checkpoint, and one that does: both end, and the next job finds a worker."""
    with live.functions.paused_lane("interactive"):
        jobs = [
            client.submit("probe", {"seconds": 50, "checkpoint": False}),
            client.submit("probe", {"seconds": 50, "steps": 500}),
        ]
        for job_id in jobs:
            live.set_number(job_id, "timeout", 2000)
    for job_id in jobs:
        done = client.wait_final(job_id, within=30)
        assert (done["state"], done["failures"], done["attempt"]) == ("failed", 1, 1)
        assert done["error"]["type"] == "timed_out"
    live.wait_for(lambda: all(job in str(live.messages("DeadLetterQueueUrl")) for job in jobs), within=15)
    client.wait_state(client.submit("probe"), "succeeded", within=20)


def test_a_job_that_waited_for_a_month_is_given_up(live: LiveStack, client: Client, long_ago: int) -> None:
    run_at = (datetime.now(UTC) + timedelta(days=20)).isoformat()
    job_id = client.submit("probe", run_at=run_at)
    assert client.status(job_id)["reason"] == "scheduled"
    live.set_number(job_id, "created_at", long_ago)
    live.overdue(job_id)
    done = client.wait_final(job_id, within=30)
    assert (done["state"], done["error"]["type"]) == ("failed", "gave_up")


def test_a_job_that_is_to_run_in_a_second_runs_then(client: Client) -> None:
    run_at = datetime.now(UTC) + timedelta(seconds=2)
    done = client.wait_final(client.submit("probe", run_at=run_at.isoformat()), within=30)
    assert done["state"] == "succeeded"
    assert datetime.fromisoformat(done["started_at"]) >= run_at - timedelta(milliseconds=1)
