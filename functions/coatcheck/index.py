"""Indexes by time, as the in-memory store keeps them: computed from its rows, so that they never lag."""

from collections.abc import Iterable
from copy import deepcopy
from typing import TypeAlias

from coatcheck.row import Row
from coatcheck.store import IndexPage

Place: TypeAlias = tuple[int, str]
"""A time, and the job that has it."""


def places(rows: Iterable[tuple[str, Row]], partition: str, of: str, time: str) -> list[Place]:
    """One partition of an index, in its order. A row without the time is not in it."""
    found = ((row.get(time), job_id) for job_id, row in rows if row.get(partition) == of)
    return sorted((value, job_id) for value, job_id in found if isinstance(value, int))


def page_of(found: list[Place], start: str | None, size: int) -> IndexPage:
    """What follows a place in the index, whether or not that job is still there."""
    rest = [each for each in found if start is None or each > _place(start)]
    page = rest[:size]
    more = len(rest) > len(page)
    return IndexPage(ids=tuple(job_id for _, job_id in page), next=f"{page[-1][1]}@{page[-1][0]}" if more else None)


def shown(row: Row, names: tuple[str, ...]) -> Row:
    """What an index shows of a row."""
    return {name: deepcopy(row[name]) for name in names if name in row}


def _place(start: str) -> Place:
    job_id, _, time = start.rpartition("@")
    return int(time), job_id
