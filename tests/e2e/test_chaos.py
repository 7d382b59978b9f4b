"""Processes killed at random under a stream of mixed jobs: every job ends as it should, once, and nothing is left."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import pytest

from coatcheck_client.api import Document
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

SEED = 20261129
STREAM_SECONDS = 30
JOBS_PER_SECOND = 2
KILL_EVERY_SECONDS = 2.0
VICTIMS = ("worker-interactive", "worker-interactive", "worker-bulk", "dispatcher", "recorder")
QUEUES = ("InteractiveQueueUrl", "BulkQueueUrl", "WakeQueueUrl", "UnstartedQueueUrl")
DRAIN_SECONDS = 150


@dataclass(frozen=True, kw_only=True)
class Sort:
    """Jobs of one sort, and how each of them has to end, however often it is killed."""

    args: dict[str, object]
    ends: str = "succeeded"
    dead_letter: bool = False


SORTS = (
    Sort(args={}),
    Sort(args={"seconds": 1, "steps": 10, "result_bytes": 2_000}),
    Sort(args={"seconds": 2, "steps": 4, "result_bytes": 100}),
    Sort(args={"seconds": 0.5, "cpu_bound": True}),
    Sort(args={"fail_times": 1}),
    Sort(args={"fail_times": 1, "fail_with": "crash", "steps": 3}),
    Sort(args={"fail_times": 1, "fail_with": "snooze"}),
    Sort(args={"fail_times": 99, "fail_with": "permanent"}, ends="failed"),
    Sort(args={"fail_times": 99}, ends="failed", dead_letter=True),
)


@contextmanager
def killing(live: LiveStack, chance: random.Random) -> Iterator[list[str]]:
    """Kill one process of a random function again and again, from outside; the names of those that were hit."""
    over, hit = Event(), []

    def kill() -> None:
        while not over.wait(KILL_EVERY_SECONDS):
            word = chance.choice(VICTIMS)
            if live.kill_one(word, chance):
                hit.append(word)

    killer = Thread(target=kill)
    killer.start()
    try:
        yield hit
    finally:
        over.set()
        killer.join()


def streamed(live: LiveStack, client: Client, seconds: float) -> dict[str, Sort]:
    """Submit jobs at a steady pace under kills; what each accepted job is."""
    chance = random.Random(SEED)
    jobs: dict[str, Sort] = {}
    began = time.monotonic()
    with killing(live, chance) as hit:
        for number in range(round(seconds * JOBS_PER_SECOND)):
            pause = began + number / JOBS_PER_SECOND - time.monotonic()
            time.sleep(max(0.0, pause))  # the pace of the stream
            sort = SORTS[number % len(SORTS)]
            lane = "bulk" if number % 4 == 3 else "interactive"
            jobs[client.submit("probe", sort.args, key=f"chaos-{seconds}-{number}", lane=lane)] = sort
    assert len(hit) > seconds / KILL_EVERY_SECONDS / 4, hit
    return jobs


def survives(live: LiveStack, client: Client, seconds: float) -> None:
    jobs = streamed(live, client, seconds)
    ended = {job_id: client.wait_final(job_id, within=DRAIN_SECONDS) for job_id in jobs}
    wrong = {job_id: document for job_id, document in ended.items() if document["state"] != jobs[job_id].ends}
    assert not wrong, wrong

    def nothing_left() -> bool:
        messages = str([live.messages(queue) for queue in QUEUES])
        return not any(job_id in messages or "due" in (live.row(job_id) or {}) for job_id in jobs)

    live.wait_for(nothing_left, within=DRAIN_SECONDS)
    letters = str(live.messages("DeadLetterQueueUrl"))
    assert {job_id for job_id in jobs if job_id in letters} == {
        job_id for job_id, sort in jobs.items() if sort.dead_letter
    }
    for job_id, document in ended.items():
        _check_story(live, client, job_id, document)


def _check_story(live: LiveStack, client: Client, job_id: str, document: Document) -> None:
    """Its output is there once, and its history is whole: from the submit to the one end."""
    results = live.versions(f"results/bharat-bazaar/{job_id}/")
    assert results == (1 if "url" in document.get("result", {}) else 0), document
    items = client.request("GET", f"/v1/jobs/{job_id}/history").document["items"]
    states = [item["state"] for item in items]
    assert (states[0], states[-1]) == ("queued", document["state"]), states
    assert sum(state in ("succeeded", "failed", "cancelled") for state in states) == 1
    assert [item["attempt"] for item in items] == sorted(item["attempt"] for item in items)
    assert states.count("running") == document["attempt"], (document, states)


def test_whatever_is_killed_every_job_ends_as_it_should_and_once(live: LiveStack, client: Client) -> None:
    survives(live, client, STREAM_SECONDS)


@pytest.mark.soak
def test_jobs_survive_minutes_of_kills(live: LiveStack, client: Client, soak_seconds: float) -> None:
    survives(live, client, soak_seconds)
