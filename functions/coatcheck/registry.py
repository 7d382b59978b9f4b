"""The registry of kinds: one file each under jobs/; a broken file breaks only its own kind."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

from coatcheck.kind import Kind, kind_of

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class UnknownKind(Exception):
    """This version has no file for the kind."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no kind is named {name!r}")
        self.name = name


class BrokenKind(Exception):
    """The kind's file cannot be imported, or does not declare one job."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the kind {name!r} cannot be loaded: {why}")
        self.name = name


def find(name: str) -> Kind:
    """Import the one file of a kind. Raises UnknownKind, BrokenKind."""
    if not NAME.fullmatch(name) or name not in names():
        raise UnknownKind(name)
    try:
        module = importlib.import_module(f"jobs.{name.replace('-', '_')}")
    except (Exception, SystemExit) as error:  # whatever a kind's file does when imported is its kind's failure alone
        raise BrokenKind(name, f"{type(error).__name__}: {error}") from error
    declared = [kind for kind in map(kind_of, vars(module).values()) if kind and kind.name == name]
    if len(declared) != 1:
        raise BrokenKind(name, f"its file declares {len(declared)} jobs with @job, not one")
    return declared[0]


def names() -> frozenset[str]:
    """The kinds that have a file, without importing any."""
    package = importlib.import_module("jobs")
    return frozenset(
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(package.__path__)
        if not module.name.startswith("_")
    )


def kinds() -> Iterator[Kind]:
    """Every kind, by name. Raises BrokenKind at the first that cannot be loaded."""
    for name in sorted(names()):
        yield find(name)
