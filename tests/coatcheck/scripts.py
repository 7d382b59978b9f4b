"""What the kind `script` plays: a function of the test's own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from coatcheck import JobContext, Result


@dataclass(frozen=True, kw_only=True)
class Args:
    text: str = ""


class Hopeless(Exception):
    """An error that the kind gives up on."""


Play: TypeAlias = Callable[[JobContext, Args], Result | None]
_plays: list[Play] = []


@contextmanager
def playing(play: Play) -> Iterator[None]:
    """Let the kind play this, for a while."""
    _plays.append(play)
    try:
        yield
    finally:
        _plays.remove(play)


def played() -> Play:
    return _plays[-1]
