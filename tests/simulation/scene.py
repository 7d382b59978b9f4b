"""A scene: a world without chance, in which a test says who does what, and what befalls which call."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from coatcheck.job import Job, job_of
from tests.simulation.chaos import Chaos, Fault
from tests.simulation.laws import breaches
from tests.simulation.moves import Move
from tests.simulation.people import Errand, People
from tests.simulation.record import Plot
from tests.simulation.seed import MINUTE, QUICK, Run, job_rows, play, tick_every_minute
from tests.simulation.stage import HANDLERS, playing, set_up
from tests.simulation.story import story
from tests.simulation.world import Stage, World

SECOND = 1_000


class Scene:
    """Times are seconds. Jobs are numbered in the order of their submits."""

    def __init__(self, stage: Stage = QUICK, *, tracing: bool = True) -> None:
        random = Random(0)
        chaos = Chaos(random, rate=0, budget=0, calm_at=0)
        self.world = World(random=random, stage=stage, chaos=chaos, handlers=HANDLERS, tracing=tracing)
        self.people = People(world=self.world)
        self.run = Run(seed=0, world=self.world, people=self.people, patience=6 * 60 * MINUTE)
        self._submitted = 0

    def submits(
        self,
        *plan: Move,
        at: float = 0,
        kind: str = "errand",
        key: str | None = None,
        tenant: str = "acme",
        cancel_after: float | None = None,
        again_after: float | None = None,
        retries: int = 0,
        retried_after: float = 60,
        body: dict[str, Any] | None = None,
        **args: Any,
    ) -> None:
        """A client submits a job, and does what else it is said to do."""
        self._submitted += 1
        own: dict[str, Any] = {"customer": "c", "parts": 3} if kind == "parcel" else {"name": "errand"}
        made = {"kind": kind, "args": {"plan": [str(move) for move in plan], "pace": 1, **own, **args}}
        self.people.comes(
            Errand(
                at=round(at * SECOND),
                tenant=tenant,
                body={**made, **(body or {})},
                key=key or f"key {self._submitted}".replace(" ", "-"),
                cancel_after=None if cancel_after is None else round(cancel_after * SECOND),
                again_after=None if again_after is None else round(again_after * SECOND),
                polls=(round(retried_after * SECOND),) * (1 if retries else 0),
                retries=retries,
            )
        )

    def holds(self, at: float, span: float, scope: str, name: str) -> None:
        """An operator pauses something for a while."""
        self.people.holds(round(at * SECOND), round(span * SECOND), {"scope": scope, "name": name, "by": "ops"})

    def befalls(
        self, function: str, what: str, fate: Fault | Callable[[], Fault | None], *, nth: int = 1, times: int = 1
    ) -> None:
        """Something befalls the n-th call of a function that begins so."""
        does = (lambda: fate) if isinstance(fate, Fault) else fate
        self.world.plots.append(Plot(function=function, what=what, nth=nth, times=times, befalls=does))

    def befalls_each(self, function: str, what: str, fault: Fault, *, nth: int) -> None:
        """A fault befalls the n-th such call of every single invocation of a function."""
        calls: Counter[int] = Counter()

        def fate() -> Fault | None:
            calls[id(self.world.author)] += 1
            return fault if calls[id(self.world.author)] == nth else None

        self.befalls(function, what, fate, times=10_000)

    def sleeps(self, seconds: float) -> Callable[[], None]:
        """A call that takes so long before it has its effect."""

        def sleep() -> None:
            self.world.trouble(Fault.SLOW)
            self.world.scheduler.sleep(round(seconds * SECOND))

        return sleep

    def stops(self, seconds: float) -> Callable[[], None]:
        """The whole machine stands still for so long, before the call."""

        def stop() -> None:
            self.world.trouble(Fault.PAUSED)
            self.world.scheduler.me.machine.paused_until = self.world.now + round(seconds * SECOND)
            self.world.scheduler.sleep(0)

        return stop

    def at(self, seconds: float, do: Callable[[], None]) -> None:
        self.world.at(round(seconds * SECOND), do)

    def plays(self, *, without: Sequence[str] = ()) -> list[Job]:
        """Run until all is at rest, and judge it by every law. The jobs, in the order of their submits."""
        with set_up():
            tick_every_minute(self.run, 12 * SECOND)
            play(self.run)
            found = [each for each in breaches(self.run) if each.law not in without]
        if found:
            told = "\n".join(story(self.run, found[0].about))
            pytest.fail("\n".join([*(f"“{each.law}”: {each.about} {each.text}" for each in found), told]))
        return self.jobs

    def goes_on(self, seconds: float) -> None:
        """Let time pass after the play."""
        with set_up(), playing(self.world):
            self.world.scheduler.run(self.world.now + round(seconds * SECOND))

    @property
    def jobs(self) -> list[Job]:
        return [job_of(row) for row in sorted(job_rows(self.world), key=lambda row: int(row["created_at"]))]

    def did(self, job: Job) -> list[str]:
        """What the kind did for a job, attempt by attempt."""
        return [f"{play.attempt} {play.did}" for play in self.world.plays if play.job_id == job.id]

    def sends(self, job: Job) -> list[int]:
        """The numbers for which a job's doorbell was rung."""
        return [doorbell.attempt for _, _, doorbell in self.world.sent if doorbell.job_id == job.id]

    def story(self, job: Job) -> str:
        return "\n".join(story(self.run, job.id))
