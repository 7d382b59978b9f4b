"""Queues: what is sent arrives, within what SQS can carry."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from coatcheck.aws import clients
from coatcheck.aws.sqs_queues import SqsMessage, SqsQueues, WakeQueue, message_group
from coatcheck.doorbell import DeadLetter, Doorbell, Queues
from coatcheck.limits import BeyondLimits
from coatcheck.memory import MemoryMessage, MemoryQueues
from coatcheck.store import Unavailable
from tests.coatcheck.cloud import LANES, Cloud, Mishaps, through, watched

BELL = Doorbell(job_id="j_1", tenant="acme", kind="probe", attempt=3)
LETTER = DeadLetter(
    job_id="j_1",
    tenant="acme",
    kind="probe",
    attempt=5,
    failures=5,
    error_type="attempts_exhausted",
    error_message="रिपोर्ट",
    failed_at="2026-11-10T12:00:00Z",
)


class Post:
    """Queues, and what arrived in them: the lanes' doorbells and the dead letters."""

    queues: Queues
    rung: Callable[[], list[tuple[str, Doorbell]]]
    letters: Callable[[], list[DeadLetter]]


@pytest.fixture(params=["memory", "aws"])
def post(request: pytest.FixtureRequest) -> Post:
    made = Post()
    if request.param == "memory":
        memory = MemoryQueues()
        made.queues, made.rung, made.letters = memory, lambda: memory.rung, lambda: memory.dead_letters
        return made
    aws: Cloud = request.getfixturevalue("aws")
    made.queues = sqs_queues(aws)
    made.rung = lambda: [
        (lane, msgspec.json.decode(message["Body"], type=Doorbell)) for lane in LANES for message in aws.received(lane)
    ]
    made.letters = lambda: [
        msgspec.json.decode(message["Body"], type=DeadLetter) for message in aws.received("dead-letters")
    ]
    return made


def sqs_queues(aws: Cloud) -> SqsQueues:
    lanes = {lane: aws.queues[lane] for lane in LANES}
    return SqsQueues(clients.sqs(), lanes, WakeQueue(clients.sqs(), aws.queues["wake"]), aws.queues["dead-letters"])


def test_a_doorbell_rings_in_its_lane_and_no_other(post: Post) -> None:
    post.queues.ring("bulk", BELL)
    assert post.rung() == [("bulk", BELL)]


@pytest.mark.parametrize("tenant", ["acme", "t" * 200, "ż 🎟", ""])
def test_every_tenant_has_a_doorbell_whatever_its_name(post: Post, tenant: str) -> None:
    post.queues.ring("interactive", Doorbell(job_id="j_2", tenant=tenant, kind="probe", attempt=1))
    assert [bell.tenant for _, bell in post.rung()] == [tenant]


def test_a_dead_letter_tells_what_happened(post: Post) -> None:
    post.queues.dead_letter(LETTER)
    assert post.letters() == [LETTER]


@pytest.mark.parametrize("delay", [timedelta(0), timedelta(seconds=0.2), timedelta(minutes=15)])
def test_a_wait_of_up_to_a_quarter_of_an_hour_can_be_sent(post: Post, delay: timedelta) -> None:
    post.queues.wake("j_1", delay)


def test_the_fakes_refuse_a_wait_or_a_hiding_that_no_message_can_carry() -> None:
    with pytest.raises(BeyondLimits, match="900 seconds"):
        MemoryQueues().wake("j_1", timedelta(minutes=15, milliseconds=1))
    with pytest.raises(BeyondLimits, match="43,200 seconds"):
        MemoryMessage().hide(timedelta(hours=12, milliseconds=1))
    with pytest.raises(BeyondLimits):
        MemoryMessage().hide(timedelta(seconds=-1))


def sent(aws: Cloud, call: Callable[[SqsQueues], None]) -> list[dict[str, Any]]:
    """The parameters of the requests that a call makes."""
    with watched(clients.sqs(), "SendMessage") as seen:
        call(sqs_queues(aws))
    return seen


@pytest.mark.parametrize(
    ("delay", "whole"), [(0, 0), (-5, 0), (0.2, 1), (29.999, 30), (30, 30), (900, 900), (899.9, 900), (1e6, 900)]
)
def test_a_wait_is_rounded_up_so_that_it_is_over_when_its_message_comes(aws: Cloud, delay: float, whole: int) -> None:
    (params,) = sent(aws, lambda queues: queues.wake("j_1", timedelta(seconds=delay)))
    assert params["DelaySeconds"] == whole
    assert json.loads(params["MessageBody"]) == {"job_id": "j_1"}


def test_a_lanes_messages_are_grouped_by_tenant_so_that_a_noisy_one_does_not_delay_the_others(aws: Cloud) -> None:
    sqs_queues(aws).ring("bulk", BELL)
    (message,) = aws.received("bulk")
    assert message["Attributes"]["MessageGroupId"] == "acme"


def test_a_group_is_a_name_that_sqs_takes_and_tenants_do_not_share_one() -> None:
    assert message_group("acme-1.in_#") == "acme-1.in_#"
    odd = ["ż", "a b", "t" * 129, "t" * 130, "", "a\n"]
    groups = {message_group(tenant) for tenant in odd}
    assert len(groups) == len(odd)
    assert all(group.isalnum() and len(group) == 64 for group in groups)


def received(aws: Cloud) -> tuple[str, str]:
    url = aws.queues["interactive"]
    sqs_queues(aws).ring("interactive", BELL)
    message = aws.sqs.receive_message(QueueUrl=url)["Messages"][0]
    return url, message["ReceiptHandle"]


def test_a_message_that_is_hidden_for_no_time_comes_back_at_once(aws: Cloud) -> None:
    url, receipt = received(aws)
    SqsMessage(clients.sqs(), url, receipt).hide(timedelta(seconds=100))
    assert "Messages" not in aws.sqs.receive_message(QueueUrl=url)
    SqsMessage(clients.sqs(), url, receipt).hide(timedelta(seconds=-3))
    assert len(aws.received("interactive")) == 1


def test_a_message_that_is_no_longer_ours_is_let_be(aws: Cloud) -> None:
    url, receipt = received(aws)
    aws.sqs.delete_message(QueueUrl=url, ReceiptHandle=receipt)
    SqsMessage(clients.sqs(), url, receipt).hide(timedelta(seconds=10))
    SqsMessage(clients.sqs(), url, "no such receipt").hide(timedelta(days=30))


@pytest.mark.parametrize("code", ["InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"])
def test_the_end_of_a_messages_twelve_hours_is_let_be_whatever_the_text_says(aws: Cloud, code: str) -> None:
    url, receipt = received(aws)
    client = through(clients.sqs(clients.BRIEF), Mishaps((400, {"__type": code, "message": "x"})))
    SqsMessage(client, url, receipt).hide(timedelta(seconds=10))


def test_a_queue_that_does_not_answer_is_unavailable(aws: Cloud) -> None:
    trouble = [(503, {"__type": "ServiceUnavailable"})] * 20
    client = through(clients.sqs(clients.BRIEF), mishaps := Mishaps(*trouble))
    with pytest.raises(Unavailable) as unavailable:
        SqsMessage(client, aws.queues["wake"], "receipt").hide(timedelta(seconds=10))
    assert unavailable.value.code == "ServiceUnavailable"
    assert mishaps.asked == 2
