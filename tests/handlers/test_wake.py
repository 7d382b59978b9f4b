"""The wake queue: waits end in a ring, early messages wait on, and one broken message is one broken message."""

from datetime import timedelta
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.doorbell import Wake
from coatcheck.job import State
from handlers import wake
from tests.coatcheck.cloud import BUSY, Cloud, troubled, watched
from tests.handlers.events import LambdaContext, failed_items, message, sqs_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now, spoil

pytestmark = pytest.mark.usefixtures("empty_queues")


def woken(*messages: dict[str, Any]) -> list[str]:
    return failed_items(wake.handler(sqs_event(*messages), LambdaContext()))


def test_a_retry_whose_time_has_come_is_queued_and_the_stream_rings_the_rest(aws: Cloud) -> None:
    job = add_job(state=State.RETRYING, attempt=2, retry_at=now() - timedelta(seconds=1))
    assert woken(message(Wake(job_id=job.id))) == []
    assert job_in_table(job.id).state is State.QUEUED
    assert aws.received("interactive") == []


def test_a_snooze_whose_time_has_come_is_sent(aws: Cloud) -> None:
    job = add_job(attempt=2, sent=1, run_at=now() - timedelta(seconds=1))
    assert woken(message(Wake(job_id=job.id))) == []
    assert len(aws.received("interactive")) == 1


def test_an_early_message_hides_itself_until_the_wait_is_over_and_comes_back(aws: Cloud) -> None:
    until = now() + timedelta(minutes=5)
    job = add_job(state=State.RETRYING, attempt=2, retry_at=until, due=until + timedelta(minutes=1))
    aws.sqs.send_message(QueueUrl=aws.queues["wake"], MessageBody=f'{{"job_id":"{job.id}"}}')
    (received,) = aws.sqs.receive_message(QueueUrl=aws.queues["wake"], VisibilityTimeout=1)["Messages"]
    with watched(clients.sqs(), "ChangeMessageVisibility") as hidden:
        assert woken(dict(received)) == [received["MessageId"]]
    assert len(hidden) == 1
    assert 295 <= hidden[0]["VisibilityTimeout"] <= 300
    assert job_in_table(job.id).state is State.RETRYING
    aws.sqs.change_message_visibility(
        QueueUrl=aws.queues["wake"], ReceiptHandle=received["ReceiptHandle"], VisibilityTimeout=0
    )


def test_what_has_nothing_to_wake_is_done() -> None:
    assert woken(message(Wake(job_id=new_id())), message(Wake(job_id=add_job(sent=1).id))) == []


def test_a_table_in_trouble_brings_back_only_the_messages_that_met_it() -> None:
    one, two = add_job(), add_job()
    first = message(Wake(job_id=one.id))
    with troubled(clients.dynamodb(), BUSY):
        failed = woken(first, message(Wake(job_id=two.id)))
    assert failed == [first["MessageId"]]
    assert job_in_table(two.id).sent == 1


def test_a_broken_message_or_row_brings_back_nothing_but_itself() -> None:
    broken, good = add_job(), add_job()
    spoil(broken.id)
    bad = [message("{"), message('{"job":"x"}'), message(Wake(job_id=broken.id))]
    assert woken(*bad, message(Wake(job_id=good.id))) == [each["MessageId"] for each in bad]
    assert job_in_table(good.id).sent == 1
