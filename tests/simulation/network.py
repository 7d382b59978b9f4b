"""The network: every call of a sandbox takes time on it, and may be refused, lost, repeated, late, or its last."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from coatcheck.slots import PREFIX
from coatcheck.store import Unavailable
from tests.simulation.chaos import Fault
from tests.simulation.lambdas import Invocation, Sandbox
from tests.simulation.ports import milliseconds
from tests.simulation.scheduler import Machine

if TYPE_CHECKING:
    from tests.simulation.world import World

R = TypeVar("R")


@dataclass
class Network:
    world: "World"
    author: object = None
    """Whose effect it is that comes late, outside every actor."""

    def call(self, what: str, about: str, effect: Callable[[], R], *, reads: bool = False, beats: bool = False) -> R:
        """A call over the network."""
        actor = self.world.scheduler.current
        if actor is None:
            return effect()
        machine = self.world.scheduler.me.machine
        fault = self._plotted(what, about) or self.world.chaos.at_call(self.world.now, reads=reads)
        self.world.scheduler.sleep(2 + int(16 * self.world.random.random()))
        if beats and self.world.strikes(Fault.BEATS_SLOW, 0.01):
            self.world.trouble(Fault.BEATS_SLOW)
            self.world.scheduler.sleep(self._share_of_lease(0.1, 0.8))
        if fault is None:
            return self._done(what, about, effect)
        assert isinstance(machine, Sandbox)
        self.world.trace(f"FAULT {fault} at {what}", about)
        self.world.trouble(fault)
        return self._under(fault, machine, what, about, effect)

    def _plotted(self, what: str, about: str) -> Fault | None:
        author = self.world.author
        if self.world.plots and isinstance(author, Invocation) and about.startswith(("j_", PREFIX)):
            for plot in [each for each in self.world.plots if each.meets(author.function, what)]:
                self.world.trace(f"PLOT {plot.function} {plot.what}", about)
                return plot.befalls()
        return None

    def _under(self, fault: Fault, machine: Sandbox, what: str, about: str, effect: Callable[[], R]) -> R:
        match fault:
            case Fault.KILLED:
                if self.world.random.random() < 0.5:
                    self._swallow(what, about, effect)
                self.world.end_process(machine, "killed")
            case Fault.PAUSED:
                if self.world.random.random() < 0.3:
                    result = self._done(what, about, effect)
                    self._pause(machine)
                    return result
                self._pause(machine)
            case Fault.REFUSED:
                raise Unavailable("ThrottlingException")
            case Fault.ANSWER_LOST:
                self._swallow(what, about, effect)
                self.world.scheduler.sleep(self._share_of_lease(0.02, 0.25))
                raise Unavailable("ReadTimeoutError")
            case Fault.REPEATED:
                self._swallow(what, about, effect)
                self.world.scheduler.sleep(self.world.random.randrange(20, 900))
            case Fault.STRAY:
                author = self.world.author
                self.world.after(self._share_of_lease(0.1, 1.2), lambda: self._as(author, what, about, effect))
                self.world.scheduler.sleep(self._share_of_lease(0.02, 0.25))
                raise Unavailable("ReadTimeoutError")
            case Fault.SLOW:
                self.world.scheduler.sleep(self._share_of_lease(0.05, 0.3))
        return self._done(what, about, effect)

    def glance(self, effect: Callable[[], R]) -> R:
        """A look at an index. It lags anyway, so that nobody needs to come between, unless something befalls it."""
        if self.world.scheduler.current is None:
            return effect()
        fault = self.world.chaos.at_call(self.world.now, reads=True)
        if fault is None:
            return effect()
        machine = self.world.scheduler.me.machine
        assert isinstance(machine, Sandbox)
        self.world.trace(f"FAULT {fault} at a look at an index")
        self.world.trouble(fault)
        return self._under(fault, machine, "look at an index", "", effect)

    def _done(self, what: str, about: str, effect: Callable[[], R]) -> R:
        if not self.world.tracing:
            return effect()
        try:
            result = effect()
        except Exception as error:
            self.world.trace(f"{what} -> {type(error).__name__}", about)
            raise
        self.world.trace(what, about)
        return result

    def _swallow(self, what: str, about: str, effect: Callable[[], object]) -> None:
        with suppress(Exception):  # whatever it answers, nobody hears it
            self._done(what, about, effect)

    def _as(self, author: object, what: str, about: str, effect: Callable[[], object]) -> None:
        self.author = author
        self._swallow(f"late: {what}", about, effect)
        self.author = None

    def _pause(self, machine: Machine) -> None:
        machine.paused_until = self.world.now + self._share_of_lease(0.6, 2.5)
        self.world.scheduler.sleep(0)

    def _share_of_lease(self, least: float, most: float) -> int:
        lease = milliseconds(self.world.timings.lease)
        return round(lease * self.world.random.uniform(least, most))
