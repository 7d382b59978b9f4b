"""The schedules of a seed: ticks that fire once or more often, at their time, late, or all at once."""

from datetime import timedelta
from random import Random

from coatcheck.tick import Tick
from tests.simulation.people import People
from tests.simulation.scheduler import EPOCH


def let_tick(random: Random, people: People, span: int, pace: float) -> None:
    """Two schedules, of which one allows no overlap. What they ask for is edited meanwhile."""
    for name, overlap in (("often", True), ("alone", False)):
        outage_ends = random.randrange(span, 2 * span) if random.random() < 0.3 else None
        for number in range(random.randrange(2, 5)):
            at = (span * (number + 1) // 6) // 1000 * 1000
            time = EPOCH + timedelta(milliseconds=at)
            for _ in range(random.choice((1, 2, 3))):
                args = {"name": name, "steps": random.choice((1, 2)), "pace": pace}
                request = {"kind": "errand", "args": args}
                tick = Tick(schedule=name, scheduled_time=time, tenant="acme", request=request, overlap=overlap)
                people.fires(outage_ends or at + random.choice((0, 0, random.randrange(2 * span))), tick)
