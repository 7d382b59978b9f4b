"""Lost ticks: those that AWS gave up, kept in a queue until somebody takes them again or lets them go."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coatcheck_client.dead_letters import BATCH, HOLD_SECONDS
from coatcheck_client.deployment import Deployment

if TYPE_CHECKING:
    from types_boto3_sqs.type_defs import MessageTypeDef


@dataclass(frozen=True, kw_only=True)
class LostTick:
    """One message. `event` is what the ticker is invoked with again; None: the message is none of ours."""

    schedule: str
    scheduled_time: str
    reason: str
    event: dict[str, Any] | None
    receipt: str


class LostTicks:
    """The queue of them. A tick may be in it more than once: taken again it is one job all the same."""

    def __init__(self, deployment: Deployment) -> None:
        self._sqs = deployment.sqs
        self._functions = deployment.functions
        self._url = deployment.output("LostTicksQueueUrl")
        self._ticker = deployment.output("TickerFunction")

    @contextmanager
    def taken(self) -> Iterator[list[LostTick]]:
        """All that can be received, hidden from others meanwhile; those that are not dropped come back at the end."""
        taken: list[LostTick] = []
        try:
            while messages := self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=BATCH,
                VisibilityTimeout=HOLD_SECONDS,
                WaitTimeSeconds=1,
                MessageAttributeNames=["All"],
            ).get("Messages"):
                taken += [lost_tick(message) for message in messages]
            yield taken
        finally:
            for each in taken:
                self._sqs.change_message_visibility(QueueUrl=self._url, ReceiptHandle=each.receipt, VisibilityTimeout=0)

    def drop(self, taken: list[LostTick], tick: LostTick) -> None:
        self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=tick.receipt)
        taken.remove(tick)

    def redo(self, tick: LostTick) -> dict[str, Any]:
        """What became of it: `{"job_id"}`, `{"skipped_for"}`, or `{"refused"}`."""
        if tick.event is None:
            return {"refused": "it is none of ours"}
        answer = self._functions.invoke(FunctionName=self._ticker, Payload=json.dumps(tick.event).encode())
        told = json.loads(answer["Payload"].read())
        if answer.get("FunctionError"):
            return {"refused": str(told.get("errorMessage", told))}
        return dict(told)


def lost_tick(message: "MessageTypeDef") -> LostTick:
    """From the function's failures, as Lambda writes them, or from EventBridge Scheduler's dead letters.

    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html
    """
    attributes = message.get("MessageAttributes", {})
    said = {name: value.get("StringValue", "") for name, value in attributes.items()}
    try:
        body = json.loads(message["Body"])
        event = dict(body.get("requestPayload", body))
        name = str(event["schedule"])
    except (ValueError, TypeError, AttributeError, KeyError):
        event, name, body = None, "(not a tick)", {}
    if event is not None and "SCHEDULED_TIME" in said:
        event["scheduled_time"] = said["SCHEDULED_TIME"]  # the body may still have the keyword in its place
    failed = body.get("responsePayload") if isinstance(body.get("responsePayload"), dict) else {}
    return LostTick(
        schedule=name,
        scheduled_time=str((event or {}).get("scheduled_time", "")),
        reason=said.get("ERROR_MESSAGE") or str(failed.get("errorMessage", "")),
        event=event,
        receipt=message["ReceiptHandle"],
    )
