"""Queues of a lane: one that is first in, first out, and one with the rules of SQS' fair queues.

They are those of https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html
whose lines are approximate, says the page. It does not say how long ago "recent" is.
"""

import heapq
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

NOISY_SHARE = 0.1
NOISY_IN_FLIGHT = 30
QUIET_AGAIN_SECONDS = 300.0
RECENT_SECONDS = 300.0
"""Ours: processing time fades with this constant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A doorbell. `number` is its place in the order in which messages were sent."""

    number: int
    tenant: str


class Queue(Protocol):
    """What a lane's workers take from. A message is in flight from its receipt until it is deleted."""

    def send(self, message: Message) -> None: ...
    def receive(self, now: float) -> Message | None: ...
    def delete(self, tenant: str, now: float) -> None: ...


@dataclass(kw_only=True)
class PlainQueue:
    """First in, first out, whoever sent it."""

    _messages: deque[Message] = field(default_factory=deque)

    def send(self, message: Message) -> None:
        self._messages.append(message)

    def receive(self, now: float) -> Message | None:  # noqa: ARG002
        return self._messages.popleft() if self._messages else None

    def delete(self, tenant: str, now: float) -> None:
        """Nobody is counted."""


@dataclass(kw_only=True)
class Meter:
    """Messages in flight, and the processing time of late: each second of it counts less, the longer it is ago."""

    in_flight: int = 0
    faded: float = 0.0
    at: float = 0.0

    def busy(self, now: float) -> float:
        """Seconds of processing time, faded."""
        keeps = math.exp((self.at - now) / RECENT_SECONDS)
        return self.faded * keeps + self.in_flight * RECENT_SECONDS * (1 - keeps)

    def change(self, by: int, now: float) -> None:
        self.faded, self.at = self.busy(now), now
        self.in_flight += by


def over_the_line(own: Meter, whole: Meter, now: float) -> bool:
    """Whether a tenant is detected as noisy by what is in flight, or by what was processed of late."""
    many = own.in_flight >= NOISY_IN_FLIGHT and own.in_flight > NOISY_SHARE * whole.in_flight
    return many or own.busy(now) > NOISY_SHARE * whole.busy(now)


@dataclass(kw_only=True)
class FairQueue:
    """Quiet tenants first, by the age of their messages; of noisy ones the one with the fewest in flight."""

    _groups: dict[str, deque[Message]] = field(default_factory=dict)
    _new: list[tuple[int, str]] = field(default_factory=list)
    """A heap of the first messages of tenants of which nothing was received lately: they cannot be noisy."""

    _known: set[str] = field(default_factory=set)
    """The other tenants that have a message here."""

    _noisy: set[str] = field(default_factory=set)
    _meters: dict[str, Meter] = field(default_factory=dict)
    _whole: Meter = field(default_factory=Meter)

    @property
    def noisy(self) -> frozenset[str]:
        return frozenset(self._noisy)

    def send(self, message: Message) -> None:
        if message.tenant not in self._groups:
            self._groups[message.tenant] = deque()
            if message.tenant in self._meters:
                self._known.add(message.tenant)
            else:
                heapq.heappush(self._new, (message.number, message.tenant))
        self._groups[message.tenant].append(message)

    def receive(self, now: float) -> Message | None:
        self._judge(now)
        if (tenant := self._next()) is None:
            return None
        if self._new and self._new[0][1] == tenant:
            heapq.heappop(self._new)
        message = self._groups[tenant].popleft()
        self._meters.setdefault(tenant, Meter(at=now)).change(1, now)
        self._whole.change(1, now)
        if self._groups[tenant]:
            self._known.add(tenant)
        else:
            del self._groups[tenant]
            self._known.discard(tenant)
            self._noisy.discard(tenant)
        return message

    def delete(self, tenant: str, now: float) -> None:
        self._meters[tenant].change(-1, now)
        self._whole.change(-1, now)

    def _judge(self, now: float) -> None:
        """Who is noisy stays so until nothing of it waits (see `receive`), or was in flight for some time."""
        for tenant in self._known:
            meter = self._meters[tenant]
            if not meter.in_flight and now - meter.at >= QUIET_AGAIN_SECONDS:
                self._noisy.discard(tenant)
            elif over_the_line(meter, self._whole, now):
                self._noisy.add(tenant)

    def _next(self) -> str | None:
        quiet = min(self._quiet(), default=None)
        if quiet is not None:
            return quiet[1]
        return min(
            self._noisy,
            key=lambda tenant: (self._meters[tenant].in_flight, self._groups[tenant][0].number),
            default=None,
        )

    def _quiet(self) -> Iterator[tuple[int, str]]:
        yield from self._new[:1]
        yield from ((self._groups[tenant][0].number, tenant) for tenant in self._known - self._noisy)
