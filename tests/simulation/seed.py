"""A seed: what its deployment is, who asks for what, how the weather is; and its run, until the world is at rest."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from coatcheck.limiter import Caps
from coatcheck.tenant_limits import limits_key
from coatcheck.timings import Timings
from coatcheck.write import Put, put
from tests.coatcheck.admissions import some_terms
from tests.simulation.chaos import Chaos, Fault
from tests.simulation.errands import TENANTS, errands
from tests.simulation.people import People
from tests.simulation.schedules import let_tick
from tests.simulation.stage import HANDLERS, playing
from tests.simulation.weather import befall
from tests.simulation.world import LANES, Stage, World

MINUTE = 60_000

PRODUCTION = Stage(
    timings=Timings(stall=timedelta(seconds=150)),  # shorter than production's, and so is the function's time:
    worker_timeout=360_000,  # a quarter of an hour of heartbeats shows no more than six minutes
    visibility=420_000,
    wake_visibility=180_000,
    concurrency=4,
    skew=1_500,
    lag=3_000,
)
QUICK = Stage(
    timings=Timings(
        lease=timedelta(seconds=6),
        beat=timedelta(seconds=1.5),
        beat_retry=timedelta(seconds=0.5),
        message_margin=timedelta(seconds=1),
        lease_grace=timedelta(seconds=1),
        stall=timedelta(seconds=15),
        answer_within=timedelta(seconds=3),
        yield_before=timedelta(seconds=10),
        hard_stop_before=timedelta(seconds=3),
        retry_delays=tuple(timedelta(seconds=wait) for wait in (1, 2, 4, 4)),
        due_grace=timedelta(seconds=5),
        ring_again=timedelta(seconds=90),
        give_back=timedelta(seconds=2),
        supervise_every=timedelta(seconds=20),
        wake_limit=timedelta(seconds=60),
    ),
    worker_timeout=36_000,
    visibility=40_000,
    wake_visibility=15_000,
    concurrency=4,
    skew=400,
    lag=1_000,
)
IMPATIENT = replace(QUICK, timings=replace(QUICK.timings, give_up_after=timedelta(minutes=4)))


@dataclass(kw_only=True)
class Run:
    """A seed's world, after or during its run."""

    seed: int
    world: World
    people: People
    patience: int
    ticking: bool = True

    @property
    def steps(self) -> int:
        return self.world.scheduler.steps

    def at_rest(self) -> bool:
        """Whether nothing is under way and nobody is owed anything."""
        world = self.world
        busy = [each for each in world.lambdas.running if each.function != "supervisor"]
        queues = [queue for name, queue in world.queues.items() if name != "dead" and queue.messages]
        return (
            self.people.busy == 0
            and not busy
            and not queues
            and all(consumer.at_rest for consumer in world.consumers)
            and not any("due" in row or row["state"] not in FINAL for row in job_rows(world))
            and not any("due" in row for key, row in world.table.rows.items() if key.item == "slots")
            and not any(change.new["resumed"] for change in world.pauses[-1:])
        )


FINAL = ("succeeded", "failed", "cancelled")
MOST_STEPS = 60_000


def job_rows(world: World) -> list[dict[str, Any]]:
    return [row for key, row in world.table.rows.items() if key.item == "job"]


def prepared(seed: int, *, tracing: bool = False) -> Run:
    """The world of a seed before anything has happened."""
    random = Random(seed)
    stage = random.choices((PRODUCTION, QUICK, IMPATIENT), (5, 4, 1))[0]
    span = 10 * MINUTE if stage is PRODUCTION else MINUTE
    chaos = Chaos(
        random,
        rate=random.choice((0.002, 0.005, 0.01, 0.02)),
        budget=random.choice((4, 8, 15, 30, 60)),
        calm_at=span + random.randrange(2 * span),
    )
    stage = replace(stage, concurrency=random.randrange(2, 7), skew=random.choice((0, stage.skew, stage.skew)))
    world = World(random=random, stage=stage, chaos=chaos, handlers=HANDLERS, tracing=tracing)
    world.toothless, world.caps = random.random() < 0.2, _caps(random)
    world.admission = some_terms(Random(f"admission {seed}"))
    if stage.skew:
        chaos.struck[Fault.SKEWED] += 1
    people = People(world=world)
    crowded = span if world.caps == Caps() else span // 8
    for errand in errands(random, crowded, stage):
        people.comes(errand)
    _operators(random, people, span)
    let_tick(random, people, span, pace=2 if stage.timings is PRODUCTION.timings else 0.4)
    _tiers(random, world, span)
    befall(world, span)
    run = Run(seed=seed, world=world, people=people, patience=6 * 60 * MINUTE)
    tick_every_minute(run, random.randrange(MINUTE))
    return run


def play(run: Run) -> None:
    """Let a seed's world run until it is at rest, or has had more time than it can need."""
    world = run.world
    with playing(world):
        world.scheduler.run(world.chaos.calm_at)
        quiet = _now_and_then(run.at_rest)
        world.scheduler.run(world.chaos.calm_at + run.patience, lambda: quiet() or run.steps > MOST_STEPS)


def _now_and_then(condition: Callable[[], bool]) -> Callable[[], bool]:
    """Looks at a condition only so often: it is dear."""
    asked = 0

    def seldom() -> bool:
        nonlocal asked
        asked += 1
        return asked % 16 == 0 and condition()

    return seldom


def _caps(random: Random) -> Caps:
    """Many seeds know no caps: jobs that wait for one another meet less."""
    if random.random() < 0.5:
        return Caps()
    return Caps(
        lanes={lane: random.randrange(1, 3) for lane in LANES if random.random() < 0.8},
        kinds={"parcel": random.randrange(1, 4)} if random.random() < 0.3 else {},
        values={"errand": random.randrange(1, 3)} if random.random() < 0.3 else {},
    )


def _tiers(random: Random, world: World, span: int) -> None:
    """Somebody gives a tenant more or less than the stage does, in the middle of it."""
    if world.caps == Caps() or random.random() < 0.6:
        return
    for _ in range(2):
        limits = put(limits_key(random.choice(TENANTS)), {"caps": {LANES[0]: random.randrange(1, 5)}})
        world.at(random.randrange(span), partial(_write, world, limits))


def _write(world: World, write: Put) -> None:
    world.table.write(write)


def _operators(random: Random, people: People, span: int) -> None:
    """Somebody holds a kind, a lane or a tenant back for a while; somebody tries failed jobs again."""
    for _ in range(random.choice((0, 0, 1, 2))):
        scope, name = random.choice(
            (("kind", "errand"), ("kind", "parcel"), ("lane", "bulk"), ("tenant", "acme"), ("tenant", "bazaar"))
        )
        begin = random.randrange(span)
        people.holds(begin, random.randrange(span // 10, span), {"scope": scope, "name": name, "by": "ops"})


def tick_every_minute(run: Run, first: int) -> None:
    """The schedule calls the supervisor once a minute; now and then not, or twice."""
    world = run.world

    def tick() -> None:
        world.after(MINUTE, tick)
        if world.strikes(Fault.TICK_MISSED, 0.03):
            return
        for _ in range(2 if world.strikes(Fault.TICK_DOUBLED, 0.03) else 1):
            world.lambdas.invoke("supervisor", {}, lambda _: None)

    world.at(first, tick)
