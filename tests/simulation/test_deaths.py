"""Races of workers that die, or seem to."""

import pytest

from coatcheck.job import State
from tests.simulation.chaos import Fault
from tests.simulation.moves import Move
from tests.simulation.scene import Scene


def test_a_job_runs_and_succeeds_when_nothing_happens() -> None:
    scene = Scene()
    scene.submits()
    scene.submits(kind="parcel", at=1)
    first, second = scene.plays()
    assert (first.state, second.state) == (State.SUCCEEDED, State.SUCCEEDED)
    assert scene.sends(first) == [1]


@pytest.mark.parametrize(
    ("hides", "taken_by"), [(2, "the worker that hears the doorbell again"), (1, "the supervisor")]
)
def test_a_job_whose_workers_die_spends_its_budget_and_no_more(hides: int, taken_by: str) -> None:
    scene = Scene()
    scene.submits(pace=4)
    scene.befalls_each("worker", "hide", Fault.KILLED, nth=hides)
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.FAILED, 4, 4)
    assert job.error is not None
    assert job.error.type == "attempts_exhausted"
    assert scene.world.queues["interactive"].received <= 2 * len(scene.sends(job))  # heard again once, not given back


def test_a_death_that_the_supervisor_finds_is_charged_once() -> None:
    scene = Scene()
    scene.submits(pace=4)
    scene.befalls("worker", "hide", Fault.KILLED)
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 1, 2)


@pytest.mark.parametrize(
    ("fault", "nth"),
    [(fault, nth) for fault in (Fault.REPEATED, Fault.ANSWER_LOST) for nth in (1, 2, 4)],
    ids=["claim repeated", "checkpoint repeated", "settle repeated", "claim lost", "checkpoint lost", "settle lost"],
)
def test_a_lost_answer_costs_no_attempt(fault: Fault, nth: int) -> None:
    scene = Scene()
    scene.submits(steps=1, pace=0.2)
    scene.befalls("worker", "write", fault, nth=nth)
    (job,) = scene.plays()
    assert (job.state, job.failures) == (State.SUCCEEDED, 0)
    assert (job.attempt, scene.sends(job)) == (1, [1])


@pytest.mark.parametrize("end", ["fails", "dies"])
def test_waits_do_not_count_as_running_time(end: str) -> None:
    """Judged where an attempt leaves its job open: a success is one, however long it took."""
    scene = Scene()
    scene.submits(*([Move.FAIL] if end == "fails" else []), at=5)
    scene.holds(0, 2 * 3600, "kind", "errand")
    if end == "dies":
        scene.befalls("worker", "hide", Fault.KILLED)
    (job,) = scene.plays()
    assert (job.state, job.failures) == (State.SUCCEEDED, 1)


def test_running_time_is_that_of_all_attempts_together() -> None:
    scene = Scene(tracing=False)
    scene.submits(*[Move.LONG] * 400, steps=400)
    (job,) = scene.plays()
    assert (job.state, job.error and job.error.type) == (State.FAILED, "timed_out")
    assert job.attempt > 30


def test_a_take_over_is_refused_if_the_lease_was_renewed_since_it_was_seen() -> None:
    scene = Scene()
    scene.world.a_skew = lambda: 2_000 if scene.world.now == 100 else 0  # type: ignore[method-assign]
    scene.at(0.1, lambda: _supervise(scene))  # this one lives on
    scene.submits(at=3, steps=1, pace=9)

    def supervise_later() -> None:
        scene.world.after(5_100, lambda: _supervise(scene))

    scene.befalls("worker", "write", supervise_later)  # the claim
    scene.befalls("worker", "write", scene.sleeps(4.2), nth=2)  # a slow beat, which lands in time
    scene.befalls("supervisor", "write", scene.sleeps(1))  # after it saw the lease expired by its own clock
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 0, 1)


def _supervise(scene: Scene) -> None:
    scene.world.lambdas.invoke("supervisor", {"once": True}, lambda _: None)
