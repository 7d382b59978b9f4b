"""Races of messages and records."""

from dataclasses import replace

import pytest

from coatcheck.job import State
from coatcheck.store import Unavailable
from tests.simulation.chaos import Fault
from tests.simulation.lambdas import Sandbox
from tests.simulation.moves import Move
from tests.simulation.scene import Scene
from tests.simulation.seed import QUICK

ALONE = replace(QUICK, concurrency=1)


def test_a_job_that_waits_for_a_worker_is_not_rung_again_and_again() -> None:
    scene = Scene(ALONE)
    scene.submits(steps=4, pace=12)
    scene.submits(at=5)
    _, second = scene.plays()
    assert second.state is State.SUCCEEDED
    assert scene.sends(second) == [1]


def test_a_lost_doorbell_is_rung_again_for_the_same_number() -> None:
    scene = Scene()
    scene.submits()
    scene.at(1, scene.world.queues["interactive"].messages.clear)
    scene.world.queues["interactive"].function = None  # nobody listens
    scene.at(2, scene.world.queues["interactive"].messages.clear)
    scene.at(60, lambda: setattr(scene.world.queues["interactive"], "function", "worker-interactive"))
    (job,) = scene.plays()
    assert (job.state, scene.sends(job)) == (State.SUCCEEDED, [1, 1])


def test_every_duty_is_done_although_the_dispatcher_never_hears_of_a_transition() -> None:
    scene = Scene()
    scene.world.consumers[0].deaf = True
    scene.submits(Move.FAIL, Move.FAIL, Move.FAIL, Move.FAIL)
    scene.submits(kind="parcel", at=1)
    failed, succeeded = scene.plays()
    assert (failed.state, succeeded.state) == (State.FAILED, State.SUCCEEDED)


def test_a_final_row_is_told_although_the_recorder_never_hears_of_it() -> None:
    scene = Scene()
    scene.world.consumers[1].deaf = True
    scene.submits()
    (job,) = scene.plays(without=["history is complete in order and once"])
    assert (job.freed, job.told, job.due) == (True, True, None)


def test_a_record_that_nobody_can_ring_blocks_nobody() -> None:
    scene = Scene()
    scene.submits()
    scene.submits(at=0.1)
    scene.befalls("dispatcher", "get", Fault.REFUSED, times=3)
    first, second = scene.plays()
    assert (first.state, second.state) == (State.SUCCEEDED, State.SUCCEEDED)
    assert scene.world.consumers[0].lost == []
    assert scene.world.queues["wake"].received > 0  # it was handed over, not tried again before all that follow


def test_marks_ring_nobody() -> None:
    scene = Scene()
    scene.submits(steps=3)
    (job,) = scene.plays()
    dispatcher, recorder = scene.world.consumers
    changes = scene.world.changes
    assert [each.new["state"] for each in changes if dispatcher.takes(each)] == ["queued", "succeeded"]
    assert [each.new["state"] for each in changes if recorder.takes(each)] == ["running", "succeeded"]
    assert job.state is State.SUCCEEDED


def test_the_doorbell_of_a_failed_attempt_starts_nothing_when_it_comes_again() -> None:
    scene = Scene()
    scene.submits(Move.FAIL, steps=1, pace=0.2)
    copies: list[str] = []

    def copy() -> None:
        copies.extend(message.body for message in scene.world.queues["interactive"].messages.values())

    def bring_back() -> None:
        for body in copies:
            scene.world.queues["interactive"].send(body, "")

    scene.befalls("worker", "write", copy)
    for tenth in range(20, 120):
        scene.at(tenth / 10, bring_back)
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 1, 2)


def test_a_wake_message_that_comes_early_hides_itself_until_its_time() -> None:
    scene = Scene()
    equip = scene.world.equip

    def let_wake_lag(machine: Sandbox) -> None:
        machine.skew = -3_000 if machine.name.startswith("wake") else 0
        equip(machine)

    scene.world.equip = let_wake_lag  # type: ignore[method-assign]
    scene.submits(Move.SNOOZE)
    (job,) = scene.plays()
    assert "wake: hide for" in scene.story(job)
    (began,) = (play.at for play in scene.world.plays if play.attempt == 2 and "begins" in play.did)
    assert began < 12_000  # when the supervisor walks for the first time


def test_a_dead_letter_that_is_moved_into_its_lane_twice_makes_one_job() -> None:
    scene = Scene()
    scene.submits(Move.FAIL_FOR_GOOD)
    scene.submits(*[Move.FAIL] * 4, at=1, steps=1)

    def move() -> None:
        for message in list(scene.world.queues["dead"].messages.values()):
            scene.world.queues["interactive"].send(message.body, message.about, attributes=message.attributes)
        scene.people.busy -= 1

    def move_twice() -> None:
        scene.people.busy += 2  # the world is not at rest before
        scene.world.after(1_000, move)
        scene.world.after(2_000, move)

    scene.befalls("", "dead letter", move_twice)
    _, old, new = scene.plays()
    assert (old.retried_as, new.retry_of) == (new.id, old.id)


def test_a_kind_that_a_worker_does_not_know_is_given_back_uncharged() -> None:
    scene = Scene()
    scene.world.old_kinds = True
    scene.submits(kind="parcel")

    def deploy() -> None:
        scene.world.old_kinds = False
        scene.world.lambdas.deploy()

    scene.at(40, deploy)
    (job,) = scene.plays()
    assert (job.state, job.failures, job.attempt) == (State.SUCCEEDED, 0, 1)


@pytest.mark.parametrize("slow", ["dispatcher", "recorder"])
def test_the_two_duties_of_a_final_row_are_both_done_whoever_is_second(slow: str) -> None:
    scene = Scene()
    scene.submits()
    scene.befalls(slow, "write", scene.sleeps(2), nth=2)
    (job,) = scene.plays()
    assert (job.freed, job.told, job.due) == (True, True, None)


@pytest.mark.parametrize("silent", ["dispatcher", "recorder"])
def test_the_duty_of_whoever_falls_silent_is_done_although_the_other_is_done_with(silent: str) -> None:
    scene = Scene()
    scene.submits()
    scene.befalls(silent, "write", Fault.KILLED, nth=2, times=100)
    (job,) = scene.plays()
    assert (job.freed, job.told, job.due) == (True, True, None)


def test_minutes_without_the_table_make_no_job_one_that_never_started() -> None:
    scene = Scene(ALONE)
    for number in range(10):
        scene.submits(at=number / 10, steps=1, pace=8)
    scene.at(6, lambda: setattr(scene.world.chaos, "outage_until", 306_000))  # the first runs, the others were rung
    jobs = scene.plays()
    assert {job.state for job in jobs} == {State.SUCCEEDED}
    assert scene.world.queues["interactive"].received > 30  # doorbells were given back, again and again


def test_workers_that_die_before_they_can_claim_leave_a_job_that_never_started() -> None:
    scene = Scene()
    scene.submits()
    scene.world.lambdas.broken_until = 3_600_000
    (job,) = scene.plays()
    assert (job.state, job.error and job.error.type, job.failures) == (State.FAILED, "never_started", 0)


def test_an_exception_that_is_not_the_services_is_a_breach() -> None:
    """The laws themselves: what a handler logs as an exception of its own does not pass unseen."""
    scene = Scene()
    scene.submits()
    scene.at(1, lambda: scene.world.failed(KeyError("gap"), "a ring failed", ""))
    scene.at(1, lambda: scene.world.failed(Unavailable("ThrottlingException"), "a ring failed", ""))
    scene.plays(without=["nothing happens that no rule provides for"])
    assert [each.text for each in scene.world.surprises] == ["a ring failed: KeyError('gap')"]
