"""Races for slots: caps hold, and no slot is lost or idle."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from coatcheck.doorbell import Wake, message_body
from coatcheck.job import Job, State
from coatcheck.limiter import Caps
from tests.simulation.chaos import Fault
from tests.simulation.moves import Move
from tests.simulation.scene import Scene
from tests.simulation.scheduler import EPOCH
from tests.simulation.seed import PRODUCTION, QUICK, job_rows
from tests.simulation.world import Stage

ACME = "tenant#interactive#acme"


def scene(cap: int = 1, stage: Stage = QUICK, **caps: dict[str, int]) -> Scene:
    made = Scene(stage)
    made.world.caps = Caps(lanes={"interactive": cap}, **caps)
    return made


def when(at: Scene, job: Job, *, attempt: int) -> datetime:
    """When a number was owed first."""
    return next(
        EPOCH + timedelta(milliseconds=change.at)
        for change in at.world.changes
        if change.key.id == job.id and change.new["attempt"] == attempt
    )


def began_after(job: Job, moment: datetime | None) -> float:
    """Seconds."""
    assert job.started_at is not None
    assert moment is not None
    return (job.started_at - moment).total_seconds()


def test_a_dozen_jobs_of_a_cap_of_three_run_in_their_order_each_once() -> None:
    at = scene(3)
    at.world.a_skew = lambda: 0  # type: ignore[method-assign]  # the order is that of the submits' clocks
    for number in range(12):
        at.submits(at=number / 2, pace=3)
    jobs = at.plays()
    assert {(job.state, job.attempt, job.failures) for job in jobs} == {(State.SUCCEEDED, 1, 0)}
    assert max(at_once(jobs)) == 3
    waited = sorted(jobs, key=lambda job: job.started_at or job.created_at)[3:]  # whoever had no slot at once
    in_line = sorted(waited, key=lambda job: job.created_at)
    assert all(abs(in_line.index(job) - place) <= 2 for place, job in enumerate(waited))  # but for neighbours


def at_once(jobs: list[Job]) -> list[int]:
    """How many ran at each start."""
    spans = [(job.started_at, job.finished_at) for job in jobs if job.started_at and job.finished_at]
    return [sum(begin <= time < end for begin, end in spans) for time, _ in spans]


@pytest.mark.parametrize(
    "moves", [(), (Move.FAIL,), (Move.SNOOZE,), (Move.LONG,), (Move.STALL,), (Move.FAIL_FOR_GOOD,)]
)
@pytest.mark.parametrize("kill", [None, ("dispatcher", "slots"), ("dispatcher", "ring"), ("worker", "write")])
def test_a_slot_comes_back_however_a_job_ends_and_whoever_dies(
    moves: tuple[Move, ...], kill: tuple[str, str] | None
) -> None:
    """No slot is held in the end, says a law; and the others are done."""
    at = scene()
    at.submits(*moves)
    for number in range(1, 4):
        at.submits(at=number, tenant="acme")
    if kill is not None:
        for nth in (1, 2, 3, 4):
            at.befalls(*kill, Fault.KILLED, nth=nth)
    jobs = at.plays()
    assert [job.state for job in jobs[1:]] == [State.SUCCEEDED] * 3


@pytest.mark.parametrize("after", [0.1, 4])
def test_a_slot_of_a_cancelled_job_is_the_next_ones(after: float) -> None:
    at = scene()
    at.submits(Move.STUCK, cancel_after=after)
    at.submits(at=2.5)
    first, second = at.plays()
    assert (first.state, second.state) == (State.CANCELLED, State.SUCCEEDED)
    assert began_after(second, max(filter(None, (first.finished_at, second.created_at)))) < 5


@pytest.mark.parametrize("move", [Move.SLEEP_LONG, Move.FAIL])
def test_who_snoozes_or_waits_for_a_retry_holds_no_slot(move: Move) -> None:
    at = scene(stage=PRODUCTION)
    at.submits(move, pace=2)
    at.submits(at=3)
    first, second = at.plays()
    assert began_after(second, when(at, first, attempt=2)) < 5


def test_a_ring_that_stood_still_does_not_free_the_slot_of_a_newer_attempt() -> None:
    """Two rings see the failed attempt. One stands still before it frees, until the next attempt has the slot."""
    patient = replace(QUICK, timings=replace(QUICK.timings, retry_delays=(timedelta(seconds=6),) * 4))
    at = scene(stage=patient)
    at.submits(Move.FAIL, pace=7, steps=1)
    at.submits(at=22, steps=1)
    rung: list[int] = []
    stood: list[set[object]] = []

    def ring_twice() -> None:
        failed = [row for row in job_rows(at.world) if row["state"] == "retrying"]
        if failed and not rung:
            rung.append(at.world.now)
            at.world.queues["wake"].send(message_body(Wake(job_id=str(failed[0]["id"]))), str(failed[0]["id"]))
            at.sleeps(3)()

    def stand_still() -> None:
        if not stood:
            stood.append(set())
            at.stops(13.5)()
            stood[0] |= {(row["attempt"], row["state"]) for row in job_rows(at.world)}

    at.befalls("dispatcher", "slots", ring_twice, times=1_000)
    at.befalls("wake", "slots", stand_still)
    first, second = at.plays()
    assert (2, "running") in stood[0]
    assert first.finished_at is not None
    assert began_after(second, first.finished_at) > 0


def test_a_wake_up_that_the_index_hides_comes_soon_all_the_same() -> None:
    """The slot is free before the mark is in the index: whoever freed it found nobody, and the supervisor looks."""
    at = scene(stage=PRODUCTION)
    at.world.table.lag = lambda: 5_000
    at.submits(steps=1, pace=1)
    at.submits(at=2.2, steps=1)
    first, second = at.plays()
    assert second.sent == 1
    assert began_after(second, first.finished_at) < 30


def test_who_waits_is_not_forgotten_while_the_index_lags() -> None:
    """The supervisor looks while the mark is not in the index yet, and again when it is."""
    at = scene()
    lag = [500]
    at.world.table.lag = lambda: lag[0]
    at.submits(steps=1, pace=20)
    at.at(4, lambda: lag.__setitem__(0, 60_000))
    at.submits(at=5)
    at.at(9, lambda: lag.__setitem__(0, 500))
    first, second = at.plays()
    assert 30 < began_after(second, first.finished_at) < 60


def test_a_free_without_a_refill_is_made_up_for_by_its_replay() -> None:
    at = scene()
    at.submits()
    at.submits(at=2.5)
    killed: list[int] = []

    def after_the_free() -> Fault | None:
        if at.world.slots and not at.world.slots[-1].new["held"] and not killed and len(job_rows(at.world)) > 1:
            killed.append(at.world.now)
            return Fault.KILLED
        return None

    at.befalls("dispatcher", "get", after_the_free, times=1_000)
    first, second = at.plays()
    assert killed
    assert began_after(second, first.finished_at) < 5


def test_a_yield_under_a_pause_leaves_its_slot_to_others() -> None:
    at = scene()
    at.submits(Move.LONG, kind="parcel", pace=5, at=8, body={"lane": "interactive"})
    at.submits(at=12)
    at.holds(11, 120, "kind", "parcel")
    first, second = at.plays()
    assert began_after(second, when(at, first, attempt=2)) < 5


def test_two_rings_that_share_an_entry_of_several_limiters_take_both_or_none() -> None:
    at = scene(2, kinds={"errand": 2}, values={"errand": 1})
    for number in range(6):
        at.submits(at=number / 10, tenant=("acme", "bazaar")[number % 2])
    jobs = at.plays()
    assert {(job.state, job.attempt) for job in jobs} == {(State.SUCCEEDED, 1)}


def test_a_cap_that_is_set_and_one_that_is_taken_away_in_the_middle_leave_no_slot_behind() -> None:
    at = scene(2)
    for number in range(8):
        at.submits(at=number / 4, steps=1, pace=2)
    at.at(1.1, lambda: setattr(at.world, "caps", Caps()))
    jobs = at.plays()
    assert {job.state for job in jobs} == {State.SUCCEEDED}
