"""Counts the requests that go to AWS, retries included: what an invocation cost, for its log line."""

from collections import Counter
from typing import TypeVar

C = TypeVar("C")

_calls: Counter[str] = Counter()


def counted(client: C) -> C:
    """Count every request of a client by its operation."""
    client.meta.events.register("before-send", _count)  # type: ignore[attr-defined]  # every client of botocore has it
    return client


def taken() -> dict[str, int]:
    """The requests since the last time somebody asked, such as `{"dynamodb.GetItem": 1}`."""
    calls = dict(_calls)
    _calls.clear()
    return calls


def _count(event_name: str, **_: object) -> None:
    _calls[event_name.removeprefix("before-send.")] += 1
