"""GET /v1/jobs/{id}/history: what happened to a job, when, and at whose request."""

from typing import Annotated, Literal, cast

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from coatcheck.document import ErrorPart, Time, error_part, given, time_part
from coatcheck.entry import PREFIX, Act, Cause, Entry, accepted, ended, entry_of
from coatcheck.job import Job, State
from coatcheck.store import Store
from coatcheck.text import rfc3339

MOST_ENTRIES = 500
"""Of one answer; the store reads so many at once, however long their errors are."""


class HistoryEntry(Struct, frozen=True, kw_only=True):
    """The job came into `state`; or, if there is an `act`, somebody did that while it was there."""

    at: Time
    state: State
    attempt: Annotated[int, Meta(description="the run that is owed or going on from then on")]
    failures: int
    cause: Annotated[Cause, Meta(description="why a job that had been tried is queued again")] | UnsetType = UNSET
    error: Annotated[ErrorPart, Meta(description="of the failure that led here")] | UnsetType = UNSET
    retry_at: Time | UnsetType = UNSET
    run_at: Time | UnsetType = UNSET
    act: Act | UnsetType = UNSET
    by: Annotated[str, Meta(description="who asked for it")] | UnsetType = UNSET
    detail: str | UnsetType = UNSET


class History(Struct, frozen=True, kw_only=True):
    """What happened to a job, in order."""

    items: list[HistoryEntry]
    left_out: (
        Annotated[Literal[True], Meta(description="there are more entries between the first and the second")]
        | UnsetType
    ) = UNSET


def history(store: Store, job: Job) -> dict[str, object]:
    """A job's history as JSON: how it began, and the newest that followed. Raises Unavailable.

    Its beginning and its end are its row's own, so that the end is never missing from what is shown of a final job.
    """
    rows = store.beside(job.id, PREFIX, MOST_ENTRIES + 1)
    kept = [entry_of(row) for row in rows[:MOST_ENTRIES]]
    entries = sorted([*kept, *([ended(job)] if job.state.final else [])], key=lambda entry: entry.place)
    document = History(
        items=[_shown(entry) for entry in (accepted(job), *entries)],
        left_out=True if len(rows) > MOST_ENTRIES else UNSET,
    )
    return cast("dict[str, object]", to_builtins(document))


def _shown(entry: Entry) -> HistoryEntry:
    return HistoryEntry(
        at=rfc3339(entry.at),
        state=entry.state,
        attempt=entry.attempt,
        failures=entry.failures,
        cause=given(entry.cause),
        error=error_part(entry.error),
        retry_at=time_part(entry.retry_at),
        run_at=time_part(entry.run_at),
        act=given(entry.act),
        by=given(entry.by),
        detail=given(entry.detail),
    )
