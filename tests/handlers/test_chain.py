"""Jobs from POST to their end, through every function that touches them."""

import json
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.job import State
from coatcheck.write import update
from handlers import ports, status, submit
from tests.coatcheck.cloud import Cloud
from tests.handlers.chain import Chain
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import job_in_table, now

pytestmark = pytest.mark.usefixtures("empty_queues")


def submitted(args: dict[str, Any], **more: Any) -> str:
    body = json.dumps({"kind": "probe", "args": args} | more)
    return str(body_of(submit.handler(http_event("POST /v1/jobs", body=body), LambdaContext()))["id"])


def shown(job_id: str) -> dict[str, Any]:
    event = http_event("GET /v1/jobs/{id}", path={"id": job_id}, query={"redirect": "false"})
    return body_of(status.handler(event, LambdaContext()))


def let_the_wait_be_over(job_id: str) -> None:
    """Turn back what the row says about the wait, as if it had passed."""
    job, past = job_in_table(job_id), now() - timedelta(seconds=1)
    name = "retry_at" if job.state is State.RETRYING else "run_at"
    ports.jobs().write(update(job.key, (), {name: past, "wrote": "transition", "updated_at": now()}))


@pytest.mark.parametrize("lane", ["interactive", "bulk"])
def test_a_job_comes_through_either_lane_with_its_result(aws: Cloud, lane: str) -> None:
    chain = Chain(aws)
    job_id = submitted({"steps": 2, "result_bytes": 100}, lane=lane)
    assert shown(job_id)["reason"] == "waiting_for_worker"
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["attempt"], document["lane"]) == ("succeeded", 1, lane)
    assert (document["result"]["bytes"], document["progress"]["percent"]) == (100, 100)
    assert document["links"]["result"] == f"/v1/jobs/{job_id}/result"


def test_a_job_that_fails_twice_comes_back_twice_and_succeeds(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"fail_times": 2})
    for failures in (1, 2):
        chain.run()
        document = shown(job_id)
        assert (document["state"], document["reason"], document["failures"]) == ("retrying", "backing_off", failures)
        let_the_wait_be_over(job_id)
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["attempt"], document["failures"]) == ("succeeded", 3, 2)
    assert aws.received("dead-letters") == []


def test_a_job_that_always_fails_ends_after_five_runs_in_one_dead_letter(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"fail_times": 1000})
    runs = 0
    while not job_in_table(job_id).state.final:
        chain.run()
        runs += 1
        if job_in_table(job_id).state is State.RETRYING:
            let_the_wait_be_over(job_id)
    document = shown(job_id)
    assert (runs, document["state"], document["error"]["type"]) == (5, "failed", "attempts_exhausted")
    (letter,) = aws.received("dead-letters")
    told = json.loads(letter["Body"])
    assert (told["job_id"], told["tenant"], told["kind"], told["failures"]) == (job_id, "acme", "probe", 5)
    assert "TransientFault" in told["error_message"]


def test_a_permanent_failure_ends_at_once_without_a_dead_letter(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"fail_times": 1000, "fail_with": "permanent"})
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["failures"], document["error"]["retryable"]) == ("failed", 1, False)
    assert aws.received("dead-letters") == []


def test_a_snoozing_job_is_shown_as_scheduled_and_not_charged(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"fail_times": 1, "fail_with": "snooze"})
    chain.dispatch()
    chain.work()
    assert shown(job_id)["reason"] == "scheduled"
    let_the_wait_be_over(job_id)
    chain.run()
    document = shown(job_id)
    assert (document["state"], document["attempt"], document["failures"]) == ("succeeded", 2, 0)


def test_a_chain_of_yields_keeps_one_start_and_never_goes_back(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"steps": 5})
    seen = []
    for _ in range(4):
        chain.dispatch()
        chain.work(seconds=59)
        document = shown(job_id)
        seen.append((document["attempt"], document["failures"], document["progress"]["done"]))
    started = shown(job_id)["started_at"]
    assert seen == [(2, 0, 1), (3, 0, 2), (4, 0, 3), (5, 0, 4)]
    chain.run()
    assert (shown(job_id)["state"], shown(job_id)["started_at"]) == ("succeeded", started)
