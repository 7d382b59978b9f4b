"""Jobs whose workers fail, die, hang, run out of time, or come back from the dead."""

import signal
from itertools import pairwise

import msgspec
import pytest

from coatcheck_client.api import Document
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


def dead_letters(live: LiveStack, job_id: str) -> list[str]:
    return [str(letter) for letter in live.messages("DeadLetterQueueUrl") if job_id in str(letter)]


def test_five_transient_failures_end_in_the_dead_letter_queue(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"fail_times": 9})
    done = client.wait_final(job_id, within=60)
    assert (done["state"], done["attempt"], done["failures"]) == ("failed", 5, 5)
    assert done["error"]["type"] == "attempts_exhausted"
    letters = live.wait_for(lambda: dead_letters(live, job_id), within=15)
    assert "attempts_exhausted" in letters[0]
    assert "TransientFault" in letters[0]


def test_a_permanent_failure_fails_at_once_and_is_no_dead_letter(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"fail_times": 1, "fail_with": "permanent"})
    done = client.wait_final(job_id, within=20)
    assert (done["state"], done["attempt"]) == ("failed", 1)
    assert done["error"] == {"type": "Permanent", "message": "failed for good, as it was told to", "retryable": False}
    live.wait_for(lambda: (row := live.row(job_id)) is not None and "due" not in row, within=15)
    assert not dead_letters(live, job_id)


def test_a_snooze_is_no_failure(client: Client) -> None:
    done = client.wait_final(client.submit("probe", {"fail_times": 1, "fail_with": "snooze"}), within=20)
    assert (done["state"], done["attempt"], done["failures"]) == ("succeeded", 2, 0)


@pytest.mark.parametrize("ending", ["crash", "hang_in_c"])
def test_a_worker_that_dies_or_never_lets_go_is_charged_and_replaced(client: Client, ending: str) -> None:
    """`hang_in_c` holds the interpreter lock: no thread of ours runs, only the watchdog ends it, with its lease."""
    job_id = client.submit("probe", {"fail_times": 1, "fail_with": ending})
    done = client.wait_final(job_id, within=30)
    assert (done["state"], done["attempt"], done["failures"]) == ("succeeded", 2, 1)


def test_stale_double_and_foreign_doorbells_do_no_harm(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"result_bytes": 10})
    client.wait_state(job_id, "succeeded", within=20)
    live.wait_for(lambda: (row := live.row(job_id)) is not None and "due" not in row, within=15)
    before = live.row(job_id)
    bell = {"job_id": job_id, "tenant": "bharat-bazaar", "kind": "probe", "attempt": 1}
    for doorbell in (bell, bell, {**bell, "attempt": 2}, {**bell, "tenant": "hill-spices"}, {**bell, "job_id": "j_0"}):
        live.ring("interactive", msgspec.json.encode(doorbell).decode())
    live.wait_for(lambda: not live.messages("InteractiveQueueUrl"), within=30)
    assert live.row(job_id) == before
    assert live.versions(f"results/bharat-bazaar/{job_id}/") == 1
    assert not dead_letters(live, job_id)


def test_a_lost_doorbell_is_rung_again_by_the_supervisor(live: LiveStack, client: Client) -> None:
    """The queue loses the message; the row knows that nobody came."""
    with live.functions.paused_lane("bulk"):
        job_id = client.submit("probe", lane="bulk")
        live.wait_for(lambda: live.messages("BulkQueueUrl"), within=15)
        live.purge("BulkQueueUrl")
        live.overdue(job_id)
    assert client.wait_final(job_id, within=30)["state"] == "succeeded"


def test_a_computing_job_longer_than_three_leases_keeps_its_lease(client: Client) -> None:
    job_id = client.submit("probe", {"seconds": 20, "cpu_bound": True, "steps": 40})
    seen: list[Document] = []

    def succeeded(now: Document) -> bool:
        seen.append(now)
        return bool(now["state"] == "succeeded")

    done = client.wait_until(job_id, succeeded, within=60)
    assert (done["attempt"], done["failures"]) == (1, 0)
    steps = [each["progress"]["done"] for each in seen]
    assert len(set(steps)) >= 5
    assert steps == sorted(steps)


def test_a_job_longer_than_the_functions_time_yields_and_finishes(live: LiveStack, client: Client) -> None:
    """A chain of five yields with a kill in the middle: one beginning, and progress that never goes back."""
    with live.functions.shorter_timeout("worker-bulk", 14):  # the yield is asked for after 4 s
        job_id = client.submit("probe", {"seconds": 24, "steps": 120}, lane="bulk")
        seen: list[Document] = []
        killed = False

        def ended(now: Document) -> bool:
            nonlocal killed
            seen.append(now)
            if now["attempt"] == 3 and now["state"] == "running" and not killed:
                killed = live.kill("worker-bulk") > 0
            return now["state"] in ("succeeded", "failed")

        done = client.wait_until(job_id, ended, within=120)
    assert killed
    assert (done["state"], done["failures"]) == ("succeeded", 1)
    assert done["attempt"] >= 7
    assert len({each["started_at"] for each in seen if "started_at" in each}) == 1
    assert all(before["progress"]["done"] <= after["progress"]["done"] for before, after in pairwise(seen))


def test_a_zombie_that_wakes_after_its_lease_writes_nothing(live: LiveStack, client: Client) -> None:
    live.kill("worker-interactive")  # the idle ones, so that the only process is the one with the job
    job_id = client.submit("probe", {"seconds": 4, "steps": 40, "result_bytes": 100})
    client.wait_until(job_id, lambda now: now["progress"]["done"] > 0, within=20)
    zombies = live.function_processes("worker-interactive")
    for zombie in zombies:
        zombie.send_signal(signal.SIGSTOP)
    try:
        done = client.wait_state(job_id, "succeeded", within=40)
        row = live.row(job_id)
    finally:
        for zombie in zombies:
            if zombie.is_running():
                zombie.send_signal(signal.SIGCONT)
    assert (done["attempt"], done["failures"]) == (2, 1)
    live.wait_for(lambda: (now := live.row(job_id)) is not None and "due" not in now, within=15)
    # An invocation that answers after the zombies were woken shows that they have had their chance.
    client.wait_state(client.submit("probe", {"seconds": 1}), "succeeded", within=30)
    after = live.row(job_id)
    assert row is not None
    assert after is not None
    settled = ("state", "attempt", "seq", "owner", "progress", "result", "updated_at")
    assert {name: row.get(name) for name in settled} == {name: after.get(name) for name in settled}
    assert live.versions(f"results/bharat-bazaar/{job_id}/") == 1
