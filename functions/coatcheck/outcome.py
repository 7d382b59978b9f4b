"""How an attempt ended: a closed union."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from coatcheck.job import Error
from coatcheck.output import File


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a kind hands back: at most one file of the results bucket, and how many rows it holds."""

    file: File | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        file: object = self.file
        rows: object = self.rows
        if not isinstance(file, File | None) or not isinstance(rows, int | None):
            raise TypeError(f"a result is a File and a whole number of rows, not {self.file!r} and {self.rows!r}")


@dataclass(frozen=True, kw_only=True)
class Succeeded:
    result: Result


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The attempt counts against the budget; an error that is not retryable ends the job at once."""

    error: Error


@dataclass(frozen=True, kw_only=True)
class Cancelled:
    reason: str


ON_REQUEST = Cancelled(reason="cancelled on request")


@dataclass(frozen=True, kw_only=True)
class Yielded:
    """Out of time: go on from the checkpoint, in an attempt of its own."""

    advanced: bool
    """Whether a newer checkpoint was saved. A yield without one would go on for ever, so it is a failure."""


@dataclass(frozen=True, kw_only=True)
class Snoozed:
    delay: timedelta


Outcome: TypeAlias = Succeeded | Failed | Cancelled | Yielded | Snoozed
