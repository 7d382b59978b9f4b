"""The dispatcher: each record is rung, and none blocks its shard."""

import json
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.job import State
from handlers import dispatcher
from tests.coatcheck.cloud import BUSY, Cloud, troubled, watched
from tests.handlers.events import LambdaContext, failed_items, stream_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, spoil

pytestmark = pytest.mark.usefixtures("empty_queues")


def dispatched(*job_ids: str) -> tuple[dict[str, Any], dict[str, Any]]:
    event = stream_event(*job_ids)
    return event, dispatcher.handler(event, LambdaContext())


def test_every_job_of_a_batch_is_rung_in_its_lane(aws: Cloud) -> None:
    one, two = add_job(), add_job(lane="bulk")
    _, answer = dispatched(one.id, two.id)
    assert failed_items(answer) == []
    assert [one.id in message["Body"] for message in aws.received("interactive")] == [True]
    assert [two.id in message["Body"] for message in aws.received("bulk")] == [True]
    assert (job_in_table(one.id).sent, job_in_table(two.id).sent) == (1, 1)


def test_a_batch_that_is_replayed_or_out_of_order_sends_nothing_twice(aws: Cloud) -> None:
    job = add_job()
    for _ in range(3):
        dispatched(job.id, job.id)
    assert len(aws.received("interactive")) == 1


def test_the_row_as_it_is_now_counts_and_not_the_records_image(aws: Cloud) -> None:
    job = add_job(state=State.CANCELLED)
    _, answer = dispatched(job.id)
    assert failed_items(answer) == []
    assert aws.received("interactive") == []
    assert job_in_table(job.id).freed


def test_a_job_that_is_gone_is_nothing_to_do(aws: Cloud) -> None:
    _, answer = dispatched(new_id())
    assert failed_items(answer) == []
    assert aws.received("wake") == []


def test_a_row_that_cannot_be_read_is_handed_to_the_wake_queue_and_blocks_nobody() -> None:
    broken, good = add_job(), add_job()
    spoil(broken.id)
    with watched(clients.sqs(), "SendMessage") as sent:
        _, answer = dispatched(broken.id, good.id)
    assert failed_items(answer) == []
    assert job_in_table(good.id).sent == 1
    assert waking(sent) == [(broken.id, 5)]


def test_a_table_in_trouble_hands_the_record_to_the_wake_queue() -> None:
    job = add_job()
    with troubled(clients.dynamodb(), BUSY), watched(clients.sqs(), "SendMessage") as sent:
        _, answer = dispatched(job.id)
    assert failed_items(answer) == []
    assert waking(sent) == [(job.id, 5)]


def test_a_record_that_can_be_neither_rung_nor_handed_on_is_reported_by_its_number(aws: Cloud) -> None:
    lost, job = add_job(), add_job()
    with troubled(clients.dynamodb(), BUSY), troubled(clients.sqs(), BUSY):
        event, answer = dispatched(lost.id, job.id)
    assert failed_items(answer) == [event["Records"][0]["dynamodb"]["SequenceNumber"]]
    assert len(aws.received("interactive")) == 1


def waking(sent: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Whom the messages to the wake queue will wake, and after how many seconds."""
    return [
        (json.loads(params["MessageBody"])["job_id"], params["DelaySeconds"])
        for params in sent
        if params["QueueUrl"].endswith("/wake")
    ]
