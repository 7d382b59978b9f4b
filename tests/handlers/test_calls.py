"""What a job costs in calls to AWS, counted in the functions by a hook of botocore."""

import json
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.aws.sqs_queues import SqsMessage
from coatcheck.claim import Claimed, claim
from coatcheck.job import State
from coatcheck.run.clock import WallClock
from coatcheck.run.heartbeat import Heartbeat
from coatcheck.run.lease import HeldLease
from handlers import bells, cancel, ports, status, submit
from tests.coatcheck.attempts import Kennel, QuietLog
from tests.coatcheck.cloud import Cloud
from tests.coatcheck.rows import TIMINGS, doorbell
from tests.handlers.chain import Chain, counting_calls
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now

pytestmark = pytest.mark.usefixtures("empty_queues")

MOST_CALLS_OF_A_SHORT_JOB = 12
"""With admission and caps on."""

MOST_CALLS_OF_THE_RECORDER = 4


def submitted(args: dict[str, Any] | None = None) -> str:
    body = json.dumps({"kind": "probe", "args": args or {}})
    event = http_event("POST /v1/jobs", body=body, headers={"idempotency-key": new_id()})
    answer = submit.handler(event, LambdaContext())
    assert answer["statusCode"] == 202
    return str(body_of(answer)["id"])


@pytest.fixture
def warm() -> None:
    """The process knows the load, the pauses and the tenant's limits: it looks them up every five or ten seconds."""
    ports.known_load.cache_clear()
    ports.known_pace.cache_clear()
    ports.pace()
    submitted()
    bells.known_pauses().hold("probe", "bulk", "acme", now(), now())
    bells.known_limits().of("acme", now())


@pytest.mark.usefixtures("warm")
def test_a_submit_takes_two_calls_one_of_them_for_admission() -> None:
    with counting_calls() as calls:
        submitted()
    assert calls == {"UpdateItem": 1, "TransactWriteItems": 1}


@pytest.mark.usefixtures("warm")
def test_a_poll_takes_one_call() -> None:
    job_id = submitted()
    with counting_calls() as calls:
        status.handler(http_event("GET /v1/jobs/{id}", path={"id": job_id}), LambdaContext())
    assert calls == {"GetItem": 1}


def test_the_first_poll_of_a_process_looks_up_the_load_and_the_next_ones_do_not() -> None:
    job_id = submitted()
    ports.known_load.cache_clear()
    ports.known_pace.cache_clear()
    with counting_calls() as calls:
        for _ in range(5):
            status.handler(http_event("GET /v1/jobs/{id}", path={"id": job_id}), LambdaContext())
    assert calls == {"GetItem": 5 + 1}


def test_a_cancellation_takes_two_calls() -> None:
    job_id = submitted()
    with counting_calls() as calls:
        cancel.handler(http_event("DELETE /v1/jobs/{id}", path={"id": job_id}), LambdaContext())
    assert calls == {"GetItem": 1, "UpdateItem": 1}


def test_a_claim_takes_one_call_and_a_heartbeat_two(aws: Cloud) -> None:
    job = add_job()
    with counting_calls() as calls:
        claim_ = claim(ports.jobs(), doorbell(job), "owner-1", now(), TIMINGS)
    assert calls == {"UpdateItem": 1}
    assert isinstance(claim_, Claimed)
    lease = HeldLease(
        job=claim_.job,
        store=ports.jobs(),
        objects=ports.objects(),
        clock=WallClock(),
        timings=TIMINGS,
        yield_at=now() + timedelta(minutes=1),
        delays=TIMINGS.retry_delays,
    )
    heartbeat = Heartbeat(
        lease=lease,
        store=bells.jobs_for_beats(),
        message=SqsMessage(clients.sqs(clients.BRIEF), aws.queues["interactive"], "a receipt"),
        watchdog=Kennel(),
        clock=WallClock(),
        timings=TIMINGS,
        hard_stop_at=now() + timedelta(minutes=1),
        end_process=lambda: None,
        log=QuietLog(),
    )
    with counting_calls() as calls:
        heartbeat.beat()
    assert calls == {"UpdateItem": 1, "ChangeMessageVisibility": 1}


@pytest.mark.usefixtures("capped", "warm")
def test_a_whole_short_job_takes_twelve_calls_with_caps_on_and_four_of_the_recorder(aws: Cloud) -> None:
    chain = Chain(aws)
    submitted()  # the tenant's first job makes the item of its slots
    chain.run()
    with counting_calls() as calls:
        job_id = submitted()
        while chain.dispatch() + chain.work():
            pass
    assert calls.total() <= MOST_CALLS_OF_A_SHORT_JOB, calls
    assert calls["SendMessage"] == 1
    with counting_calls() as recorders:
        chain.record()
    job = job_in_table(job_id)
    assert (job.state, job.freed, job.told, job.due) == (State.SUCCEEDED, True, True, None)
    assert recorders.total() <= MOST_CALLS_OF_THE_RECORDER, recorders


@pytest.mark.usefixtures("warm")
def test_each_checkpoint_takes_one_call(aws: Cloud) -> None:
    chain = Chain(aws)
    totals = []
    for steps in (1, 11):
        with counting_calls() as calls:
            submitted({"steps": steps})
            chain.run()
        totals.append(calls.total())
    assert totals[1] - totals[0] == 10
