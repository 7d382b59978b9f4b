"""What befalls a whole region, or a whole deployment, at a time."""

from dataclasses import dataclass

from tests.simulation.chaos import Fault
from tests.simulation.ports import milliseconds
from tests.simulation.world import World

ALWAYS = 1e9
"""A chance that no rate makes small: only the budget and the calm stop it."""


def befall(world: World, span: int) -> None:
    """Draw what happens within two spans (ms)."""
    weather = Weather(world)
    random = world.random
    for happening, chance in (
        (weather.outage, 0.3),
        (weather.deploy, 0.5),
        (weather.break_workers, 0.12),
        (weather.jump, 0.3),
    ):
        while random.random() < chance:
            world.at(random.randrange(2 * span), happening)
    if random.random() < 0.15:
        world.old_kinds = True
        world.chaos.struck[Fault.OLD_VERSION] += 1
        world.at(random.randrange(span // 2, span), weather.deploy_kinds)


@dataclass(frozen=True)
class Weather:
    world: World

    @property
    def lease(self) -> int:
        return milliseconds(self.world.timings.lease)

    def outage(self) -> None:
        world = self.world
        if world.strikes(Fault.OUTAGE, ALWAYS):
            world.chaos.outage_until = world.now + world.random.randrange(self.lease // 10, self.lease * 2)

    def deploy(self) -> None:
        if self.world.strikes(Fault.DEPLOYED, ALWAYS):
            self.deploy_kinds()

    def deploy_kinds(self) -> None:
        self.world.old_kinds = False
        self.world.lambdas.deploy()

    def break_workers(self) -> None:
        world = self.world
        if world.strikes(Fault.BROKEN_VERSION, ALWAYS):
            world.lambdas.broken_until = world.now + world.random.choice((1, 3, 14)) * world.stage.visibility

    def jump(self) -> None:
        world = self.world
        machines = [each.machine for each in world.lambdas.running]
        if not machines or not world.strikes(Fault.CLOCK_JUMPED, ALWAYS):
            return
        machine = world.random.choice(machines)
        machine.skew += world.random.choice((-1, 1)) * world.random.randrange(self.lease)
        machine.jumped = True
        world.jumped_at = min(world.jumped_at, world.now)
        if machine.invocation is not None:
            machine.invocation.troubles.append(Fault.CLOCK_JUMPED)
