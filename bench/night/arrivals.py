"""What comes in during the night: quiet tenants all the time, and three that come with much at once."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from statistics import NormalDist

HOUR = 3600.0


class Who(StrEnum):
    """Classes of tenants, as they are told apart in what is reported. The rules know nothing of them."""

    QUIET = "quiet"
    NOISY = "noisy"
    NIGHTLY = "nightly"
    ARCHIVE = "archive"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One job that somebody wants. Times are seconds since the night began."""

    at: float
    who: Who
    tenant: str
    lane: str
    seconds: float
    """How long a worker works on it, all attempts together."""

    tick: bool = False
    """Of a schedule: it needs no admission."""


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """So many jobs, of one tenant, or one job of each of as many tenants."""

    who: Who
    lane: str
    at: float
    jobs: int
    one_tenant: bool
    every_seconds: float = 0.0
    """Between one and the next; 0: all at one moment."""

    tick: bool = False


@dataclass(frozen=True, kw_only=True)
class Night:
    """What comes in. `spread` is the deviation of the logarithm of a job's time: 1 makes a long tail."""

    arrivals_per_second: float
    mean_seconds: float
    spread: float
    seconds: float
    """How long quiet tenants go on to come; what is open then is done as well."""

    crowds: tuple[Crowd, ...]


def requests(night: Night, seed: int) -> list[Request]:
    """All that comes in, by time. Each class has its own chance, so that a night without crowds has the same others."""
    found = list(_quiet(night, Random(f"{seed} {Who.QUIET}")))
    for crowd in night.crowds:
        found.extend(_crowd(crowd, night, Random(f"{seed} {crowd.who}")))
    return sorted(found, key=lambda request: request.at)


def job_seconds(jobs: int, mean: float, spread: float) -> list[float]:
    """Times of so many jobs, log-normal: the quantiles, so that every night has as long a tail and as much to do."""
    normal = NormalDist(sigma=spread)
    found = [math.exp(normal.inv_cdf((place + 0.5) / jobs)) for place in range(jobs)]
    scale = mean * jobs / sum(found)
    return [scale * each for each in found]


def _quiet(night: Night, chance: Random) -> Iterator[Request]:
    """One job of each tenant, independent of all others (Poisson)."""
    jobs = round(night.arrivals_per_second * night.seconds)
    times = sorted(chance.uniform(0, night.seconds) for _ in range(jobs))
    for number, (at, seconds) in enumerate(zip(times, _shuffled(jobs, night, chance), strict=True)):
        yield Request(at=at, who=Who.QUIET, tenant=f"quiet-{number}", lane="interactive", seconds=seconds)


def _crowd(crowd: Crowd, night: Night, chance: Random) -> Iterator[Request]:
    for number, seconds in enumerate(_shuffled(crowd.jobs, night, chance)):
        tenant = str(crowd.who) if crowd.one_tenant else f"{crowd.who}-{number}"
        at = crowd.at + number * crowd.every_seconds
        yield Request(at=at, who=crowd.who, tenant=tenant, lane=crowd.lane, seconds=seconds, tick=crowd.tick)


def _shuffled(jobs: int, night: Night, chance: Random) -> list[float]:
    found = job_seconds(jobs, night.mean_seconds, night.spread)
    chance.shuffle(found)
    return found
