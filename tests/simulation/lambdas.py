"""Lambda: sandboxes that live on, are frozen between invocations, are replaced by deploys, and die at timeouts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.simulation.chaos import Fault
from tests.simulation.scheduler import Dead, Machine

if TYPE_CHECKING:
    from tests.simulation.ports import Ports
    from tests.simulation.world import World

Handler: TypeAlias = Callable[[Any, Any], Any]
Done: TypeAlias = Callable[[Any], None]


class Sandbox(Machine):
    """A process of one function. What the function keeps between invocations is in `ports`."""

    ports: "Ports"
    retired = False
    jumped = False
    """Its clock was moved."""

    invocation: "Invocation | None" = None
    kinds: frozenset[str] = frozenset()


@dataclass(kw_only=True, eq=False)
class Invocation:
    """One call of a function, and what befell it."""

    function: str
    machine: Sandbox
    about: str
    started: int
    deadline: int
    done: Done
    over: bool = False
    killed: bool = False
    troubles: list[str] = field(default_factory=list)
    claimed: tuple[str, int, str] | None = None
    """The job, the attempt and the owner's token, if it made a claim."""

    ended: int | None = None

    def __str__(self) -> str:
        return f"{self.function}@{self.machine.name}"


@dataclass(kw_only=True)
class Context:
    """What a function is told of its invocation."""

    world: "World"
    invocation: Invocation
    function_name: str = "simulated"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:ap-south-1:123456789012:function:simulated"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, self.invocation.deadline - self.world.now)


@dataclass(kw_only=True)
class Lambdas:
    world: "World"
    handlers: dict[str, Handler]
    timeouts: dict[str, int]
    idle: dict[str, list[Sandbox]] = field(default_factory=dict)
    running: list[Invocation] = field(default_factory=list)
    broken_until: int = 0
    """Until then, workers die at their start."""

    _number: int = 0

    def invoke(self, function: str, event: Any, done: Done, *, about: str = "") -> None:
        """Call a function; `done` gets its answer, or None if it failed."""
        world = self.world
        machine, start = self._sandbox(function)
        world.scheduler.unfreeze(machine)
        begin = world.now + start
        invocation = Invocation(
            function=function,
            machine=machine,
            about=about,
            started=begin,
            deadline=begin + self.timeouts[function],
            done=done,
        )
        machine.invocation = invocation
        if machine.jumped:
            invocation.troubles.append(Fault.CLOCK_JUMPED)
        self.running.append(invocation)
        world.trace(f"{invocation} is called", about)
        actor = world.scheduler.spawn(machine, function, lambda: self._run(invocation, event), start)
        actor.context = invocation
        world.at(invocation.deadline, lambda: self._time_out(invocation))

    def deploy(self) -> None:
        """New sandboxes from now on; the old ones finish what they are at."""
        for machines in self.idle.values():
            for machine in machines:
                self.world.scheduler.kill(machine)
            machines.clear()
        for invocation in self.running:
            invocation.machine.retired = True

    def kill(self, machine: Sandbox, why: str) -> None:
        if machine.dead:
            return
        self.world.scheduler.kill(machine)
        machine.ports.watchdog.cancel()
        invocation = machine.invocation
        if machine in self.idle.get(machine.name.partition(".")[0], []):
            self.idle[machine.name.partition(".")[0]].remove(machine)
        if invocation is not None and not invocation.over:
            self.world.trace(f"{invocation} is killed: {why}", invocation.about)
            invocation.killed = True
            invocation.troubles.append(why)
            self._finish(invocation, None)

    def _sandbox(self, function: str) -> tuple[Sandbox, int]:
        world = self.world
        idle = self.idle.setdefault(function, [])
        if idle and world.random.random() < 0.9:
            return idle.pop(world.random.randrange(len(idle))), world.random.randrange(3, 40)
        self._number += 1
        machine = Sandbox(f"{function}.{self._number}", world.a_skew())
        machine.kinds = world.known_kinds(function)
        world.equip(machine)
        return machine, world.random.randrange(200, 2_000)

    def _run(self, invocation: Invocation, event: Any) -> None:
        if invocation.function.startswith("worker") and self.world.now < self.broken_until:
            self.kill(invocation.machine, "a broken version")
            raise Dead
        answer: Any = None
        try:
            answer = self.handlers[invocation.function](event, Context(world=self.world, invocation=invocation))
        except Exception as error:  # noqa: BLE001  # a function that fails is invoked again, or not
            self.world.failed(error, f"{invocation} fails", invocation.about)
        if not invocation.machine.dead:
            self._finish(invocation, answer)

    def _finish(self, invocation: Invocation, answer: Any) -> None:
        if invocation.over:
            return
        invocation.over = True
        invocation.ended = self.world.now
        self.running.remove(invocation)
        machine = invocation.machine
        if not machine.dead:
            self.world.trace(f"{invocation} has answered", invocation.about)
            machine.idle = True
            if machine.retired:
                self.world.at(self.world.now, lambda: self.world.scheduler.kill(machine))
            else:
                self.idle[invocation.function].append(machine)
        self.world.after(5, lambda: invocation.done(answer))

    def _time_out(self, invocation: Invocation) -> None:
        if not invocation.over:
            self.world.chaos.struck[Fault.TIMED_OUT] += 1
            self.kill(invocation.machine, "the function's time is over")
