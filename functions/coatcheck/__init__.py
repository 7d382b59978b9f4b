"""Coatcheck's public names: what a kind of job is written with."""

from msgspec import Meta

from coatcheck.context import JobContext, Source
from coatcheck.endings import Cancel, Permanent, Snooze
from coatcheck.kind import Retry, job
from coatcheck.outcome import Result
from coatcheck.output import File, Output, Part, Upload

__all__ = [
    "Cancel",
    "File",
    "JobContext",
    "Meta",
    "Output",
    "Part",
    "Permanent",
    "Result",
    "Retry",
    "Snooze",
    "Source",
    "Upload",
    "job",
]
