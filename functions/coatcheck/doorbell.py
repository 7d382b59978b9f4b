"""Doorbells: the messages that say "look at this job", and the port that carries them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import msgspec

from coatcheck.entry import Entry


@dataclass(frozen=True, kw_only=True)
class Doorbell:
    """A lane's message. It carries no state: the row says what is owed; a stale attempt is forgotten."""

    job_id: str
    tenant: str
    kind: str
    attempt: int


class Wake(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message of a wait: a job to look at again. Or, with an entry: what could not be written down at once."""

    job_id: str
    entry: Entry | None = None


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """What an operator finds in the dead-letter queue. At least once: readers count distinct jobs."""

    job_id: str
    tenant: str
    kind: str
    attempt: int
    failures: int
    error_type: str
    error_message: str
    failed_at: str
    """RFC 3339, UTC."""


class Queues(Protocol):
    """The port to the queues. Every call raises Unavailable when the service does not answer."""

    def ring(self, lane: str, doorbell: Doorbell) -> None: ...

    def wake(self, job_id: str, delay: timedelta) -> None: ...

    def dead_letter(self, letter: DeadLetter) -> None: ...


class Message(Protocol):
    """The message of a queue that is being worked on."""

    def hide(self, span: timedelta) -> None:
        """Keep it from everybody else for `span` from now. Raises Unavailable."""


def message_body(message: Doorbell | Wake | DeadLetter) -> str:
    return msgspec.json.encode(message).decode()
