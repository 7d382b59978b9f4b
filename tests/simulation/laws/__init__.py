"""What must hold after every run. A law is a function of a run that yields its breaches; its name says what holds.

Whoever adds a capability adds its laws: a function with `@law` in a module of this folder, named in `MODULES`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from tests.simulation.seed import Run

MODULES = ("life", "ownership", "messages", "keys", "output", "history", "pauses", "slots", "clients", "ticks")


@dataclass(frozen=True, kw_only=True)
class Breach:
    law: str
    about: str
    """The job, if it is about one."""

    text: str


Found: TypeAlias = Iterator[tuple[str, str]]
"""The job, and what is wrong with it."""

LAWS: dict[str, Callable[[Run], Found]] = {}


def law(check: Callable[[Run], Found]) -> Callable[[Run], Found]:
    LAWS[check.__name__.replace("_", " ")] = check
    return check


def breaches(run: Run) -> list[Breach]:
    for module in MODULES:
        import_module(f"tests.simulation.laws.{module}")
    return [Breach(law=name, about=about, text=text) for name, check in LAWS.items() for about, text in check(run)]
