"""Answers to batches: AWS takes any other form for the failure, or with an emulator the success, of them all."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.doorbell import Wake
from handlers import dispatcher, recorder, unstarted, wake, worker
from tests.coatcheck.cloud import BUSY, troubled
from tests.coatcheck.rows import doorbell
from tests.handlers.events import LambdaContext, message, sqs_event, stream_event
from tests.handlers.jobs_table import add_job

pytestmark = pytest.mark.usefixtures("empty_queues")

EVENTS: list[tuple[ModuleType, Callable[[], dict[str, Any]]]] = [
    (worker, lambda: sqs_event(message(doorbell(add_job())))),
    (unstarted, lambda: sqs_event(message(doorbell(add_job())))),
    (wake, lambda: sqs_event(message(Wake(job_id=add_job(sent=1).id)))),
    (dispatcher, lambda: stream_event(add_job().id)),
]


def names_of(event: dict[str, Any]) -> list[str]:
    """What AWS knows the records by: messages by their ids, records of a stream by their numbers."""
    return [record.get("messageId") or record["dynamodb"]["SequenceNumber"] for record in event["Records"]]


@pytest.mark.parametrize(("function", "event"), EVENTS, ids=["worker", "unstarted", "wake", "dispatcher"])
def test_a_batch_is_answered_with_the_very_keys_that_aws_reads_and_names_of_that_batch(
    function: ModuleType, event: Callable[[], dict[str, Any]]
) -> None:
    assert function.handler(event(), LambdaContext()) == {"batchItemFailures": []}
    failing = event()
    with troubled(clients.dynamodb(), *[BUSY] * 9), troubled(clients.sqs(), *[BUSY] * 9):
        answer = function.handler(failing, LambdaContext())
    assert answer == {"batchItemFailures": [{"itemIdentifier": name} for name in names_of(failing)]}


def test_a_record_that_cannot_be_written_down_is_answered_in_the_same_form() -> None:
    poison = stream_event(add_job().id)
    assert recorder.handler(poison, LambdaContext()) == {
        "batchItemFailures": [{"itemIdentifier": name} for name in names_of(poison)]
    }
    assert recorder.handler({"Records": []}, LambdaContext()) == {"batchItemFailures": []}
