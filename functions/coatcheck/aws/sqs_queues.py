"""The queues on SQS."""

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from coatcheck.aws.errors import code_of, passing_errors
from coatcheck.doorbell import DeadLetter, Doorbell, Wake, message_body
from coatcheck.entry import Entry

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

NOT_OURS = frozenset(
    {
        "InvalidParameterValue",
        "MessageNotInflight",
        "AWS.SimpleQueueService.MessageNotInflight",
        "ReceiptHandleIsInvalid",
    }
)
"""The message was deleted, or received again, or is past its 12 hours. The row decides, so this changes nothing."""


REDRIVE = "redrive"
"""The attribute by which a dead letter is known in whatever queue it lies: in a lane, it tries its job again."""

GROUP = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}")


class WakeQueue:
    def __init__(self, client: "SQSClient", url: str) -> None:
        self._client = client
        self._url = url

    def wake(self, job_id: str, delay: timedelta, entry: Entry | None = None) -> None:
        seconds = min(900, max(0, math.ceil(delay.total_seconds())))
        _send(self._client, self._url, message_body(Wake(job_id=job_id, entry=entry)), DelaySeconds=seconds)


class SqsQueues:
    def __init__(self, client: "SQSClient", lanes: Mapping[str, str], waits: WakeQueue, dead_letter_url: str) -> None:
        self._client = client
        self._lanes = lanes
        self._waits = waits
        self._dead_letter_url = dead_letter_url

    def ring(self, lane: str, doorbell: Doorbell) -> None:
        """The tenant is the group: SQS' fair queues let quiet tenants' messages pass a noisy one's."""
        group = message_group(doorbell.tenant)
        _send(self._client, self._lanes[lane], message_body(doorbell), MessageGroupId=group)

    def wake(self, job_id: str, delay: timedelta) -> None:
        self._waits.wake(job_id, delay)

    def dead_letter(self, letter: DeadLetter) -> None:
        _send(
            self._client,
            self._dead_letter_url,
            message_body(letter),
            MessageAttributes={
                "error_type": {"DataType": "String", "StringValue": letter.error_type},
                REDRIVE: {"DataType": "String", "StringValue": letter.job_id},
            },
        )


def _send(client: "SQSClient", url: str, body: str, **more: Any) -> None:
    with passing_errors():
        client.send_message(QueueUrl=url, MessageBody=body, **more)


def message_group(tenant: str) -> str:
    """The group of a tenant's messages: its name, if SQS takes that as a group, or a digest of it."""
    return tenant if GROUP.fullmatch(tenant) else sha256(tenant.encode()).hexdigest()


class SqsMessage:
    """A received message; `receipt` is the handle of this very receive."""

    def __init__(self, client: "SQSClient", url: str, receipt: str) -> None:
        self._client = client
        self._url = url
        self._receipt = receipt

    def hide(self, span: timedelta) -> None:
        seconds = min(43_200, max(0, math.ceil(span.total_seconds())))
        try:
            with passing_errors():
                self._client.change_message_visibility(
                    QueueUrl=self._url, ReceiptHandle=self._receipt, VisibilityTimeout=seconds
                )
        except ClientError as error:
            if code_of(error) not in NOT_OURS:
                raise


def queue_url(client: "SQSClient", arn: str) -> str:
    """The URL of the queue that an event names by its ARN."""
    return client.get_queue_url(QueueName=arn.rsplit(":", 1)[-1])["QueueUrl"]
