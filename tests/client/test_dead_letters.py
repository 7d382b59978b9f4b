"""The dead-letter queue as operators take from it: whatever goes wrong, no letter is lost or stays hidden."""

import json
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from coatcheck_client.dead_letters import DeadLetterQueue, Wanted, all_of
from coatcheck_client.deployment import Deployment

REGION = "ap-south-1"


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[DeadLetterQueue]:
    """Twelve jobs' letters, one of them twice, and a message that is none."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        sqs = boto3.client("sqs", region_name=REGION)
        url = sqs.create_queue(QueueName="dead-letters")["QueueUrl"]
        for number in (*range(12), 3):
            letter = {"job_id": f"j_{number}", "tenant": "acme", "kind": "import" if number % 2 else "export"}
            sqs.send_message(QueueUrl=url, MessageBody=json.dumps(letter))
        sqs.send_message(QueueUrl=url, MessageBody="hello")
        session = boto3.Session(region_name=REGION)
        yield DeadLetterQueue(Deployment("test", {"DeadLetterQueueUrl": url}, session))


def test_letters_are_selected_by_job_and_all_are_back_at_the_end(queue: DeadLetterQueue) -> None:
    with queue.selected(Wanted(kind="import")) as meant:
        assert sorted(meant) == ["j_1", "j_11", "j_3", "j_5", "j_7", "j_9"]
        assert len(meant["j_3"]) == 2
        assert queue.count() == 14 - 7  # nobody else sees those that are meant
    assert queue.count() == 14


def test_what_was_thrown_away_is_gone_and_the_rest_is_back_although_the_work_was_interrupted(
    queue: DeadLetterQueue,
) -> None:
    def interrupted() -> None:
        with queue.selected(Wanted(tenant="acme")) as meant:
            queue.throw_away(meant.pop("j_3"))
            queue.throw_away(meant.pop("j_4"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert queue.count() == 14 - 3


def test_a_reading_that_is_interrupted_hides_nothing(queue: DeadLetterQueue) -> None:
    def stop(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), queue.selected(Wanted(kind="import"), stop):
        pytest.fail("there is nothing to work on")
    assert queue.count() == 14


def test_a_message_that_is_no_letter_is_kept_with_what_is_in_it(queue: DeadLetterQueue) -> None:
    with queue.selected(Wanted()) as meant:
        assert [letter.body for letter in meant[""]] == ["hello"]
        assert len(all_of(meant)) == 14
