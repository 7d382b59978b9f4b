"""Pauses: what is paused does not start."""

from typing import Any

from coatcheck.run.known_pauses import LOOK_UP_EVERY
from tests.simulation.lambdas import Invocation
from tests.simulation.laws import Found, law
from tests.simulation.ports import milliseconds
from tests.simulation.seed import Run

TOLERANCE = milliseconds(LOOK_UP_EVERY) + 500


@law
def what_is_paused_does_not_start(run: Run) -> Found:
    """Unless its worker began within the seconds in which a process may not have heard of the pause."""
    for change in run.world.changes:
        worker = change.by
        if not _claims(change) or not isinstance(worker, Invocation) or worker.troubles:
            continue
        limiters = {
            f"pause#kind#{change.new['kind']}",
            f"pause#lane#{change.new['lane']}",
            f"pause#tenant#{change.new['tenant']}",
        }
        for limiter in limiters & _held_since(run, worker.started - TOLERANCE, change.at):
            yield change.key.id, f"was started at {change.at} by {worker}, although {limiter} was held long before"


def _claims(change: Any) -> bool:
    return change.old is not None and change.old["state"] == "queued" and change.new["state"] == "running"


def _held_since(run: Run, since: int, until: int) -> set[str]:
    """What was held all the time between two moments."""
    held: set[str] | None = None
    before: set[str] = set()
    for change in run.world.pauses:
        if change.at <= since:
            before = set(_held(change.new))
        elif change.at <= until:
            held = (before if held is None else held) & set(_held(change.new))
    return before if held is None else held


def _held(row: Any) -> dict[str, Any]:
    return dict(row["held"])
