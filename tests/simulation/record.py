"""What a world keeps of a run: what was written, done and told, and what no rule provides for."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.simulation.chaos import Fault
from tests.simulation.lambdas import Invocation
from tests.simulation.table import Change

if TYPE_CHECKING:
    from tests.simulation.world import World


@dataclass(frozen=True, kw_only=True)
class Surprise:
    """Something that no rule provides for."""

    at: int
    text: str
    about: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client was told."""

    at: int
    request: str
    tenant: str
    key: str | None
    status: int
    body: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Play:
    """What a kind did in an attempt, in its own words."""

    at: int
    job_id: str
    attempt: int
    did: str


@dataclass(kw_only=True)
class Plot:
    """What befalls the n-th call of a function that begins like this; and how often in a row."""

    function: str
    what: str
    nth: int = 1
    times: int = 1
    befalls: Callable[[], Fault | None]
    """Says which fault, if any; it may let time pass, or others do something."""

    def meets(self, function: str, what: str) -> bool:
        if not (function.startswith(self.function) and what.startswith(self.what)):
            return False
        self.nth -= 1
        return -self.times < self.nth <= 0


class Log:
    """The functions' log: lines of the trace. An exception that no fault explains is a surprise."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def info(self, message: str, /, **fields: Any) -> None:
        self._world.trace(f"log: {message} {fields.get('extra', fields)}", self._about(fields))

    warning = error = info

    def exception(self, message: str, /, **fields: Any) -> None:
        error = sys.exc_info()[1]
        assert error is not None
        self._world.failed(error, message, self._about(fields))

    def append_keys(self, **_: Any) -> None: ...

    def _about(self, fields: dict[str, Any]) -> str:
        author = self._world.author
        return str(fields.get("job_id") or (author.about if isinstance(author, Invocation) else ""))


def told(change: Change) -> str:
    """A write as a line of a story."""
    old = change.old or {}
    before, after = old.get("state", "-"), change.new["state"]
    shown = ", ".join(
        f"{name} {old.get(name)}→{change.new.get(name)}"
        for name in sorted({*old, *change.new})
        if name not in ("state", "updated_at", "progress", "wrote") and old.get(name) != change.new.get(name)
    )
    return f"WROTE {before} → {after} ({change.new.get('wrote')}) by {change.by}: {shown}"
