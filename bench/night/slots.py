"""Slots as `functions/coatcheck/slots.py` has them, without what is needed where writes may fail or come twice.

A job holds one from before it is sent until it ends; who finds none waits, and the oldest goes first when one is free.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from coatcheck.limiter import Limiter

T = TypeVar("T")


@dataclass(kw_only=True)
class Slots(Generic[T]):
    """Of all limiters; each is made when it is met first."""

    _held: dict[str, int] = field(default_factory=dict)
    _lines: dict[str, deque[T]] = field(default_factory=dict)

    def take(self, limiter: Limiter, job: T) -> bool:
        """Whether there is one; if not, the job stands in line."""
        held = self._held.get(limiter.name, 0)
        if held < limiter.cap:
            self._held[limiter.name] = held + 1
            return True
        self._lines.setdefault(limiter.name, deque()).append(job)
        return False

    def free(self, limiter: Limiter) -> T | None:
        """Give one back. It is handed on to whoever has waited longest, who is returned."""
        if line := self._lines.get(limiter.name):
            return line.popleft()
        self._held[limiter.name] -= 1
        return None
