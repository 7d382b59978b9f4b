"""The kinds that are deployed: which routes they have, and what caps they ask for."""

import sys
from collections.abc import Collection, Iterable

from coatcheck import registry
from coatcheck.kind import Kind
from coatcheck.limiter import Caps
from coatcheck.registry import BrokenKind
from infra.config import Config
from infra.function_code import FunctionCode


class UnknownLane(Exception):
    """A kind wants a lane that this deployment does not have."""

    def __init__(self, kind: str, lane: str, lanes: Collection[str]) -> None:
        super().__init__(
            f"the kind {kind!r} wants the lane {lane!r}, which this stage does not have: take one of "
            f"{', '.join(lanes)}, or add a LaneConfig to infra/config.py (docs/adding-a-kind.md, A lane of your own)"
        )
        self.kind = kind
        self.lane = lane


class RouteTaken(Exception):
    """Two kinds declare one route."""

    def __init__(self, route: str, *kinds: str) -> None:
        super().__init__(f"the kinds {' and '.join(kinds)} both declare the route {route}")
        self.route = route
        self.kinds = kinds


def sound_kinds(files: FunctionCode) -> list[Kind]:
    """The kinds of a deployment, in the order of their names.

    One that cannot be loaded has no route, and stops nobody else: its jobs are refused, with the reason in the logs.
    """
    found = []
    for name in sorted(files.kinds()):
        try:
            found.append(registry.find(name))
        except BrokenKind as error:
            print(f"warning: {error}", file=sys.stderr)  # noqa: T201  # the synth's own output
    return found


def kind_routes(kinds: Iterable[Kind], config: Config) -> dict[str, str]:
    """Which kind each route stands for. Raises UnknownLane, RouteTaken."""
    lanes = [lane.name for lane in config.lanes]
    routes: dict[str, str] = {}
    for kind in kinds:
        if kind.lane not in lanes:
            raise UnknownLane(kind.name, kind.lane, lanes)
        if kind.route is None:
            continue
        if kind.route in routes:
            raise RouteTaken(kind.route, routes[kind.route], kind.name)
        routes[kind.route] = kind.name
    return routes


def caps_of(kinds: Collection[Kind], config: Config) -> Caps:
    """How many jobs may be in flight at once: of each tenant, as the lanes say, and as the kinds say."""
    return Caps(
        lanes=config.caps,
        kinds={kind.name: kind.cap for kind in kinds if kind.cap is not None},
        values={kind.name: kind.cap_each for kind in kinds if kind.cap_by},
    )
