"""Waits: how long jobs were accepted before they were started, by class of tenants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from bench.night.arrivals import HOUR, Who
from bench.night.play import Job


@dataclass(frozen=True, kw_only=True)
class Ends:
    """What became of the jobs of one class in one night."""

    waits: tuple[float, ...]
    refusals: int
    hours: float
    """From when the first was wanted until the last one had ended."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Seconds from accepted to started, over some nights; `refusals` and `hours` are those of the worst one."""

    jobs: int
    p50: float
    p95: float
    max: float
    refusals: int
    hours: float


Waits: TypeAlias = Mapping[Who, Wait]
"""Of the classes that came."""


def ends(jobs: Sequence[Job], watched_from: float) -> dict[Who, Ends]:
    """By class; jobs that were wanted before `watched_from` do not count."""
    watched = [job for job in jobs if job.request.at >= watched_from]
    classes = {who: [job for job in watched if job.request.who is who] for who in Who}
    return {
        who: Ends(
            waits=tuple(job.wait for job in mine),
            refusals=sum(job.refusals for job in mine),
            hours=(max(job.ended_at for job in mine) - min(job.request.at for job in mine)) / HOUR,
        )
        for who, mine in classes.items()
        if mine
    }


def waits(nights: Sequence[Mapping[Who, Ends]]) -> dict[Who, Wait]:
    return {who: _wait([night[who] for night in nights]) for who in nights[0]}


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest of the values that so many percent do not exceed."""
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


def _wait(nights: Sequence[Ends]) -> Wait:
    ordered = sorted(wait for night in nights for wait in night.waits)
    return Wait(
        jobs=len(ordered),
        p50=round(percentile(ordered, 50), 1),
        p95=round(percentile(ordered, 95), 1),
        max=round(ordered[-1], 1),
        refusals=max(night.refusals for night in nights),
        hours=round(max(night.hours for night in nights), 1),
    )
