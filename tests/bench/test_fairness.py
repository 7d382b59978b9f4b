"""Fairness in a short night of the model, with production's numbers: who waits for whom, and for whom nobody does."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import inf

import pytest

from bench.night.arrivals import HOUR, Crowd, Night, Who, job_seconds, requests
from bench.night.play import Job, play
from bench.night.scenes import CROWDS, SPREAD
from bench.night.stage import Mechanisms, staged
from bench.night.waits import percentile
from infra.config import CONFIGS, Stage

PROD = CONFIGS[Stage.PROD]
SEEDS = (1, 2, 3)
FLOOR_SECONDS = 1.0
"""A wait below it is none: what the model leaves out, a cold start to begin with, takes as long."""

ON = Mechanisms()
NEITHER = Mechanisms(caps=False, fair_queue=False)
JOBS = {Who.NOISY: 500, Who.ARCHIVE: 300, Who.NIGHTLY: 60}
AT = {Who.NOISY: 600.0, Who.ARCHIVE: 600.0, Who.NIGHTLY: 900.0}


def short_night(*who: Who) -> Night:
    """The interactive lane as busy as it is meant to be, and at once whoever comes with much."""
    load = PROD.load
    crowds = tuple(replace(each, at=AT[each.who], jobs=JOBS[each.who]) for each in CROWDS if each.who in who)
    return Night(
        arrivals_per_second=PROD.maximum_concurrency["interactive"]
        * load.target_utilisation
        / load.mean_duration_seconds,
        mean_seconds=load.mean_duration_seconds,
        spread=SPREAD,
        seconds=HOUR,
        crowds=crowds,
    )


@cache
def jobs_of(seed: int, on: Mechanisms, *who: Who) -> tuple[Job, ...]:
    return tuple(play(requests(short_night(*who), seed), staged(PROD, on), seed))


def waits_of(who: Who, jobs: tuple[Job, ...]) -> list[float]:
    return [job.wait for job in jobs if job.request.who is who]


def p95(who: Who, jobs: tuple[Job, ...]) -> float:
    return percentile(sorted(waits_of(who, jobs)), 95)


def bar(seed: int) -> float:
    """Twice what quiet tenants wait for when they are alone."""
    return 2 * max(p95(Who.QUIET, jobs_of(seed, ON)), FLOOR_SECONDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_quiet_tenants_wait_at_most_twice_as_long_as_if_they_were_alone(seed: int) -> None:
    assert p95(Who.QUIET, jobs_of(seed, ON, *Who)) <= bar(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_caps_and_fair_queue_they_wait_for_the_noisy_one(seed: int) -> None:
    assert p95(Who.QUIET, jobs_of(seed, NEITHER, *Who)) > 10 * bar(seed)


@pytest.mark.parametrize("on", [Mechanisms(caps=False), Mechanisms(fair_queue=False)], ids=["fair queue", "caps"])
def test_either_of_the_two_keeps_most_of_that_wait_away(on: Mechanisms) -> None:
    assert p95(Who.QUIET, jobs_of(1, on, *Who)) < p95(Who.QUIET, jobs_of(1, NEITHER, *Who)) / 10


def test_interactive_jobs_never_wait_for_bulk_ones() -> None:
    alone, among = jobs_of(1, ON, Who.NOISY), jobs_of(1, ON, *Who)
    for who in (Who.QUIET, Who.NOISY):
        assert waits_of(who, among) == waits_of(who, alone)


def test_without_lanes_they_do() -> None:
    on = Mechanisms(lanes=False)
    assert max(waits_of(Who.QUIET, jobs_of(1, on, *Who))) > max(waits_of(Who.QUIET, jobs_of(1, on, Who.NOISY)))


@pytest.mark.parametrize("on", [ON, Mechanisms(lanes=False), Mechanisms(fair_queue=False)])
def test_bulk_always_moves_and_everything_that_was_accepted_ends(on: Mechanisms) -> None:
    jobs = jobs_of(1, on, *Who)
    ended = sorted(job.ended_at for job in jobs if job.request.who in {Who.ARCHIVE, Who.NIGHTLY})
    assert len(ended) == JOBS[Who.ARCHIVE] + JOBS[Who.NIGHTLY]
    assert max(after - before for before, after in pairwise(ended)) < 2 * max(job.request.seconds for job in jobs)
    assert all(job.accepted_at <= job.started_at < job.ended_at for job in jobs)


def test_nightly_jobs_do_not_wait_for_an_archive_that_came_before() -> None:
    capped, uncapped = jobs_of(1, ON, *Who), jobs_of(1, NEITHER, *Who)
    assert p95(Who.NIGHTLY, capped) < p95(Who.NIGHTLY, uncapped) / 2


@pytest.mark.parametrize("on", [ON, Mechanisms(lanes=False), NEITHER])
def test_no_more_run_at_once_than_caps_and_workers_allow(on: Mechanisms) -> None:
    stage = replace(staged(PROD, on), attempt_seconds=inf)  # a job that has yielded waits in between
    jobs = play(requests(short_night(*Who), 1), stage, 1)
    most: Counter[tuple[str, str]] = Counter()
    running: Counter[tuple[str, str]] = Counter()
    starts = [(job.started_at, 1, job) for job in jobs]
    ends = [(job.ended_at, -1, job) for job in jobs]
    for _, by, job in sorted(starts + ends, key=lambda event: event[:2]):
        request = job.request
        for place in ((request.lane, request.tenant), ("workers", stage.queues[request.lane])):
            running[place] += by
            most[place] = max(most[place], running[place])
    for (lane, name), found in most.items():
        if lane == "workers":
            assert found <= stage.workers[name]
        else:
            assert found <= stage.terms.caps.get(lane, found)
    if on.caps:
        assert most["interactive", Who.NOISY] == stage.terms.caps["interactive"]
        assert most["bulk", Who.ARCHIVE] == stage.terms.caps["bulk"]


def test_a_flood_is_let_in_at_the_rate_of_a_tenant_and_quiet_ones_are_not_refused() -> None:
    jobs = jobs_of(1, ON, *Who)
    noisy = sorted(job.accepted_at for job in jobs if job.request.who is Who.NOISY)
    terms = staged(PROD, ON).terms
    assert noisy[terms.burst - 1] == noisy[0]
    assert noisy[-1] - noisy[0] >= (len(noisy) - terms.burst) / terms.requests_per_second
    assert sum(job.refusals for job in jobs if job.request.who is Who.QUIET) == 0


def test_a_night_is_the_same_whenever_it_is_played() -> None:
    assert requests(short_night(*Who), 1) == requests(short_night(*Who), 1)
    assert waits_of(Who.NOISY, jobs_of(1, ON, Who.NOISY)) == [
        job.wait
        for job in play(requests(short_night(Who.NOISY), 1), staged(PROD, ON), 1)
        if job.request.who is Who.NOISY
    ]


def test_the_times_of_jobs_have_their_mean_and_a_long_tail() -> None:
    seconds = job_seconds(10_000, 120, SPREAD)
    assert sum(seconds) / len(seconds) == pytest.approx(120)
    assert max(seconds) > 20 * 120


def test_who_hands_in_one_after_the_other_is_not_refused() -> None:
    crowd = Crowd(who=Who.ARCHIVE, lane="bulk", at=0, jobs=300, one_tenant=True, every_seconds=0.1)
    night = replace(short_night(), crowds=(crowd,))
    jobs = play(requests(night, 1), staged(PROD, ON), 1)
    assert sum(job.refusals for job in jobs) == 0
