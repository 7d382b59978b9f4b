"""The `coatcheck` command as a test runs it, and what became of it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Ended:
    code: object
    stdout: str
    stderr: str


class Run(Protocol):
    def __call__(self, *arguments: str) -> Ended: ...
