"""Slots: caps hold at every moment, no slot leaks, and none is idle while somebody waits for it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from coatcheck.job import job_of
from coatcheck.limiter import Limiter, limiters_of
from coatcheck.slots import LOOK_AGAIN, limiter_named
from coatcheck.tenant_limits import limits_key, limits_of
from tests.simulation.laws import Found, law
from tests.simulation.ports import milliseconds
from tests.simulation.seed import MINUTE, Run, job_rows
from tests.simulation.table import Change

IDLE = 2 * MINUTE + milliseconds(LOOK_AGAIN) + 40_000
"""Two periods of the supervisor, since one call may be missed; when the slots are due; and the lag of the index."""


@law
def no_more_are_in_flight_than_a_cap_allows(run: Run) -> Found:
    """Of what workers have, judged at every change of a row. A cap that was changed counts as the larger one."""
    caps = _caps(run)
    most = caps.largest
    owned: dict[str, set[str]] = defaultdict(set)
    for change in run.world.changes:
        for limiter in caps.of[change.key.id] & most.keys():
            had = owned[limiter]
            if change.new["state"] not in ("running", "cancelling"):
                had.discard(change.key.id)
            elif change.key.id not in had:
                had.add(change.key.id)
                if len(had) > most[limiter]:
                    yield change.key.id, f"is one of {len(had)} in flight under {limiter}, whose cap is {most[limiter]}"


@law
def no_slot_is_held_in_the_end(run: Run) -> Found:
    for key, row in run.world.table.rows.items():
        held: Any = row.get("held", {})
        if key.item == "slots" and (held or "waits_at" in row):
            yield next(iter(held), ""), f"{key.id} is left with {held}, and waits_at {row.get('waits_at')}"


@law
def a_free_slot_is_not_idle_while_somebody_waits_for_it(run: Run) -> Found:
    """Judged when the faults are over, and nobody may be held by anything else."""
    world = run.world
    begin = world.chaos.calm_at + IDLE
    if world.jumped_at < 2**62 or any(change.new["held"] for change in world.pauses):
        return
    caps = _caps(run).unchanged
    for job_id, limiter, since, until in _waits(run):
        cap = caps.get(limiter)
        idle = _idle_since(run, limiter, cap, max(since, begin), until) if cap is not None else 0
        if idle > IDLE:
            yield job_id, f"waited for {limiter} for {idle} ms although a slot of it was free"


def _waits(run: Run) -> Iterator[tuple[str, str, int, int]]:
    """Which job waited for which limiter, from when to when."""
    marks: dict[str, tuple[str, int]] = {}
    for change in run.world.changes:
        now: Any = change.new.get("waiting")
        before = marks.get(change.key.id)
        if before is not None and before[0] != now:
            yield change.key.id, *marks.pop(change.key.id), change.at
        if isinstance(now, str) and change.key.id not in marks:
            marks[change.key.id] = (now, change.at)


def _idle_since(run: Run, limiter: str, cap: int, since: int, until: int) -> int:
    """The longest time within a span in which a limiter had a slot to give."""
    longest, free_since = 0, None
    for at, held in [*_held(run, limiter), (until, cap)]:
        if free_since is not None:
            longest = max(longest, min(at, until) - max(free_since, since))
        free_since = at if held < cap else None
    return longest


def _held(run: Run, limiter: str) -> list[tuple[int, int]]:
    return [(change.at, _size(change)) for change in run.world.slots if limiter_named(change.key.id) == limiter]


def _size(change: Change) -> int:
    held: Any = change.new["held"]
    return len(held)


@dataclass(kw_only=True)
class Caps:
    """Which limiters each job had, and every cap that a limiter ever had; None if it had none for a while."""

    of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ever: dict[str, set[int | None]] = field(default_factory=lambda: defaultdict(set))

    @property
    def largest(self) -> dict[str, int]:
        return {name: max(filter(None, caps)) for name, caps in self.ever.items() if None not in caps}

    @property
    def unchanged(self) -> dict[str, int]:
        return {name: cap for name, cap in self.largest.items() if self.ever[name] == {cap}}


def _caps(run: Run) -> Caps:
    own: dict[str, list[Mapping[str, int]]] = defaultdict(lambda: [{}])
    for change in run.world.limits:
        own[change.key.id].append(limits_of(change.new).caps)
    caps = Caps()
    for job in map(job_of, job_rows(run.world)):
        found = [_by_name(limiters_of(job, run.world.caps, each)) for each in own[limits_key(job.tenant).id]]
        caps.of[job.id] = {name for each in found for name in each}
        for name in caps.of[job.id]:
            caps.ever[name] |= {each.get(name) for each in found}
    return caps


def _by_name(limiters: tuple[Limiter, ...]) -> dict[str, int]:
    return {each.name: each.cap for each in limiters}
