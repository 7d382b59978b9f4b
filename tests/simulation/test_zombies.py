"""Races of an attempt with the one that took its job over, while no watchdog ends it."""

import pytest

from coatcheck.job import State
from tests.simulation.chaos import Fault
from tests.simulation.moves import Move
from tests.simulation.scene import Scene


@pytest.mark.parametrize("nth", [2, 3, 4], ids=["checkpoint", "next checkpoint", "step or settle"])
def test_a_worker_that_stood_still_for_too_long_can_write_nothing(nth: int) -> None:
    scene = Scene()
    scene.world.toothless = True
    scene.submits(steps=2, pace=0.3)
    scene.befalls("worker", "write", scene.stops(30), nth=nth)
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 1, 2)


@pytest.mark.parametrize("what", ["part", "complete", "head"])
def test_an_output_that_a_zombie_finishes_is_still_the_winners(what: str) -> None:
    scene = Scene()
    scene.world.toothless = True
    scene.submits(kind="parcel", pace=0.3)
    scene.befalls("worker", what, scene.stops(30))
    (job,) = scene.plays()
    assert (job.state, job.attempt) == (State.SUCCEEDED, 2)
    assert job.result is not None
    assert scene.world.bucket.versions == {job.result.key: 1}


@pytest.mark.parametrize("what", ["begin", "part", "complete"])
@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.REPEATED, Fault.KILLED])
def test_an_output_survives_every_lost_answer(what: str, fault: Fault) -> None:
    scene = Scene()
    scene.submits(kind="parcel", pace=0.3)
    scene.befalls("worker", what, fault)
    (job,) = scene.plays()
    assert job.state is State.SUCCEEDED


def test_a_late_packet_does_not_undo_a_newer_one() -> None:
    scene = Scene()
    scene.submits(steps=3, pace=1)
    scene.befalls("worker", "write", Fault.STRAY, nth=2)  # its effect comes seconds later
    (job,) = scene.plays()
    assert job.state is State.SUCCEEDED


def test_a_zombie_that_settles_while_the_next_attempt_runs_changes_nothing() -> None:
    scene = Scene()
    scene.world.toothless = True
    scene.submits(Move.PERMANENT, steps=1, pace=12)
    stood: list[int] = []

    def stand_still() -> None:
        if not stood and any(Move.PERMANENT in play.did for play in scene.world.plays if "will" in play.did):
            stood.append(scene.world.now)
            scene.stops(14)()

    scene.befalls("worker", "write", stand_still, times=1_000)
    (job,) = scene.plays()
    assert stood
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 1, 2)
