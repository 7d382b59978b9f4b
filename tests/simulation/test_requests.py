"""Races of requests: keys, natural keys, redrives and pauses."""

from dataclasses import replace

import pytest

from coatcheck.job import State
from tests.simulation.chaos import Fault
from tests.simulation.moves import Move
from tests.simulation.scene import Scene
from tests.simulation.seed import QUICK


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.REPEATED, Fault.KILLED, Fault.REFUSED])
def test_a_submit_whose_answer_is_lost_is_one_job(fault: Fault) -> None:
    scene = Scene()
    scene.submits(again_after=20)
    scene.befalls("submit", "transact", fault)
    (job,) = scene.plays()
    assert job.state is State.SUCCEEDED


def test_two_equal_requests_at_once_are_one_job_and_both_are_accepted() -> None:
    scene = Scene()
    for _ in range(2):
        scene.submits(key="same")
    (job,) = scene.plays()
    assert [(answer.status, answer.body["id"]) for answer in scene.world.answers] == [(202, job.id)] * 2


def test_a_job_is_not_tried_again_while_another_has_its_natural_key() -> None:
    scene = Scene()
    scene.submits(Move.FAIL_FOR_GOOD, kind="parcel", retries=1, retried_after=20)
    scene.submits(kind="parcel", at=10, parts=6, pace=5)
    old, other = scene.plays()
    assert (old.state, old.retried_as, other.state) == (State.FAILED, None, State.SUCCEEDED)
    assert [answer.status for answer in scene.world.answers if answer.request.endswith("retry")] == [409]


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.REPEATED, Fault.KILLED])
def test_a_job_is_tried_again_once_however_often_that_is_asked(fault: Fault) -> None:
    scene = Scene()
    scene.submits(Move.FAIL_FOR_GOOD, retries=2, retried_after=10)
    scene.befalls("submit", "transact", fault, nth=2)
    old, new = scene.plays()
    assert (old.retried_as, new.retry_of) == (new.id, old.id)


def test_two_clients_that_try_a_job_again_at_once_get_the_same_new_one() -> None:
    scene = Scene()
    for _ in range(2):
        scene.submits(Move.FAIL_FOR_GOOD, key="same", retries=1, retried_after=10)
    scene.befalls("submit", "transact", scene.sleeps(3), nth=3)
    old, new = scene.plays()
    assert (old.retried_as, new.retry_of) == (new.id, old.id)
    answers = [answer for answer in scene.world.answers if answer.request.endswith("retry")]
    assert [(answer.status, answer.body["id"]) for answer in answers] == [(202, new.id)] * 2


def test_a_doorbell_that_a_pause_takes_back_is_stale_wherever_it_is() -> None:
    scene = Scene(replace(QUICK, concurrency=1))
    scene.submits(steps=1, pace=12)
    scene.submits(at=2)
    scene.holds(5, 30, "kind", "errand")
    copies: list[str] = []
    lane = scene.world.queues["interactive"]
    scene.at(6, lambda: copies.extend(message.body for message in lane.messages.values()))

    def bring_back() -> None:
        for body in copies:
            lane.send(body, "")

    scene.at(45, bring_back)
    _, held = scene.plays()
    assert (held.state, held.failures, held.attempt) == (State.SUCCEEDED, 0, 2)


def test_a_job_that_yields_under_a_pause_waits_for_its_end() -> None:
    scene = Scene()
    scene.submits(Move.LONG, steps=3)
    scene.holds(10, 120, "tenant", "acme")
    (job,) = scene.plays()
    assert (job.state, job.failures) == (State.SUCCEEDED, 0)
    assert [at for at in (play.at for play in scene.world.plays) if 65_000 < at < 130_000] == []
