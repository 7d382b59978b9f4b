"""Races of cancellations with what the worker does: from `cancelling` there are only final states."""

import pytest

from coatcheck.job import State
from tests.simulation.chaos import Fault
from tests.simulation.moves import Move
from tests.simulation.scene import Scene


@pytest.mark.parametrize("move", [Move.FAIL, Move.SNOOZE], ids=["failure", "snooze"])
def test_a_cancellation_that_comes_after_the_last_checkpoint_is_not_lost(move: Move) -> None:
    scene = Scene()
    scene.submits(move, steps=1, cancel_after=4)
    scene.befalls("worker", "write", scene.sleeps(4), nth=2)
    (job,) = scene.plays()
    assert job.state is State.CANCELLED
    assert {line[0] for line in scene.did(job)} == {"1"}


@pytest.mark.parametrize(
    ("move", "state"), [(Move.WORK, State.SUCCEEDED), (Move.PERMANENT, State.FAILED)], ids=["success", "permanent"]
)
def test_a_job_that_had_just_finished_stays_so(move: Move, state: State) -> None:
    scene = Scene()
    scene.submits(move, steps=1, cancel_after=4)
    scene.befalls("worker", "write", scene.sleeps(4), nth=4 if move is Move.WORK else 2)
    (job,) = scene.plays()
    assert job.state is state


def test_a_cancellation_that_lands_after_the_end_changes_nothing() -> None:
    scene = Scene()
    scene.submits(steps=1, pace=3, cancel_after=1)
    scene.befalls("cancel", "write", scene.sleeps(15))
    (job,) = scene.plays()
    assert job.state is State.SUCCEEDED


def test_a_worker_that_dies_while_it_is_to_stop_leaves_a_cancelled_job_uncharged() -> None:
    scene = Scene()
    scene.submits(pace=5, cancel_after=3)
    scene.befalls("worker", "write", Fault.KILLED, nth=3)
    (job,) = scene.plays()
    assert (job.state, job.failures) == (State.CANCELLED, 0)


def test_a_cancelled_parcel_leaves_no_part_in_the_bucket() -> None:
    scene = Scene()
    scene.submits(kind="parcel", parts=9, cancel_after=6)
    (job,) = scene.plays()
    assert job.state is State.CANCELLED
    assert scene.world.bucket.uploads == {}


def test_a_requeue_does_not_bring_back_a_job_that_was_cancelled_meanwhile() -> None:
    scene = Scene()
    scene.submits(Move.FAIL, steps=1, cancel_after=8)
    scene.befalls("wake", "write", scene.sleeps(9))
    (job,) = scene.plays()
    assert job.state is State.CANCELLED
