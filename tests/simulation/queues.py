"""Queues as SQS has them: visibility, delay, no order, duplicates, receive counts, and a redrive target."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.simulation.chaos import Fault

if TYPE_CHECKING:
    from tests.simulation.world import World

DELETE_LATENCY = 10


@dataclass(kw_only=True)
class SimMessage:
    id: str
    body: str
    attributes: dict[str, Any]
    about: str
    sent_at: int
    visible_at: int
    receives: int = 0
    receipt: str = ""


@dataclass(kw_only=True)
class SimQueue:
    """A queue and the event source mapping that feeds a function from it."""

    world: "World"
    name: str
    function: str | None
    visibility: int
    batch: int = 1
    concurrency: int = 2
    most_receives: int = 10
    redrive_to: "SimQueue | None" = None
    messages: dict[str, SimMessage] = field(default_factory=dict)
    in_flight: int = 0
    received: int = 0
    _number: int = 0

    def send(self, body: str, about: str, *, delay: int = 0, attributes: dict[str, Any] | None = None) -> None:
        world = self.world
        self._number += 1
        late = world.random.randrange(2_000, 90_000) if world.strikes(Fault.DELIVERED_LATE, 0.01) else 0
        message = SimMessage(
            id=f"{self.name}-{self._number}",
            body=body,
            attributes=attributes or {},
            about=about,
            sent_at=world.now,
            visible_at=world.now + delay + late + world.random.randrange(2, 120),
        )
        self.messages[message.id] = message
        self._look_at(message.visible_at)

    def hide(self, receipt: str, span: int) -> None:
        """Only the latest receipt of a message in flight counts for sure: an old one may, or may not."""
        message = self.messages.get(receipt.partition("/")[0])
        if message is None or message.visible_at <= self.world.now:
            return
        if message.receipt != receipt and self.world.random.random() < 0.5:
            return
        message.visible_at = self.world.now + span
        self._look_at(message.visible_at)

    def _look_at(self, when: int) -> None:
        if self.function is not None:
            self.world.at(when, self._feed)

    def _feed(self) -> None:
        while self.in_flight < self.concurrency:
            batch = self._receive()
            if not batch:
                return
            self._invoke(batch)

    def _receive(self) -> list[SimMessage]:
        world = self.world
        visible = [each for each in self.messages.values() if each.visible_at <= world.now]
        world.random.shuffle(visible)
        batch: list[SimMessage] = []
        for message in visible:
            if len(batch) == self.batch:
                break
            if message.receives >= self.most_receives and self.redrive_to is not None:
                del self.messages[message.id]
                self.redrive_to.send(message.body, message.about, attributes=message.attributes)
                continue
            if any(other.sent_at < message.sent_at for other in visible):
                world.chaos.struck[Fault.OVERTAKEN] += 1
            message.receives += 1
            self.received += 1
            message.receipt = f"{message.id}/{message.receives}"
            twice = world.strikes(Fault.DELIVERED_TWICE, 0.02)
            message.visible_at = world.now + (world.random.randrange(1, 5_000) if twice else self.visibility)
            self._look_at(message.visible_at)
            batch.append(message)
        return batch

    def _invoke(self, batch: list[SimMessage]) -> None:
        self.in_flight += 1
        ids = [message.id for message in batch]
        event = {"Records": [self._record(message) for message in batch]}

        def done(answer: Any) -> None:
            self.in_flight -= 1
            failed = ids if answer is None else [each["itemIdentifier"] for each in answer["batchItemFailures"]]
            for each in ids:
                if each not in failed and not self.world.strikes(Fault.DELETE_LOST, 0.01):
                    self.world.after(DELETE_LATENCY, self._deleting(each))
            self._feed()

        assert self.function is not None
        self.world.lambdas.invoke(self.function, event, done, about=batch[0].about)

    def _deleting(self, message_id: str) -> Callable[[], None]:
        def delete() -> None:
            self.messages.pop(message_id, None)

        return delete

    def _record(self, message: SimMessage) -> dict[str, Any]:
        return {
            "messageId": message.id,
            "receiptHandle": message.receipt,
            "body": message.body,
            "attributes": {"ApproximateReceiveCount": str(message.receives)},
            "messageAttributes": message.attributes,
            "eventSource": "aws:sqs",
        }
