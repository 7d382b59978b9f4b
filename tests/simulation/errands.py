"""What the clients of a seed want: which jobs, of whom, when, with which keys, and what they do about them later."""

from datetime import timedelta
from random import Random
from typing import Any

from tests.simulation.moves import Move
from tests.simulation.people import Errand
from tests.simulation.scheduler import EPOCH
from tests.simulation.world import LANES, Stage

TENANTS = ("acme", "bazaar", "chandni", "darzi")
MOVES = (*([Move.FAIL] * 8), *Move)
MOVES_OF_PARCELS = (Move.FAIL, Move.FAIL, Move.FAIL_FOR_GOOD, Move.LONG, Move.STALL, Move.HOLD, Move.OVERSTAY)
FEWEST_ERRANDS = 17
"""Of which jobs come for sure; ticks make three more at least."""


def errands(random: Random, span: int, stage: Stage) -> list[Errand]:
    """So many that become jobs for sure: of one key or natural key there is one job, and one without may be lost."""
    found: list[Errand] = []
    used: set[object] = set()
    sure = 0
    while sure < FEWEST_ERRANDS:
        errand = _errand(random, len(found), span, stage)
        found.append(errand)
        once = {(errand.tenant, each) for each in (errand.key, errand.body["args"].get("customer")) if each is not None}
        sure += errand.key is not None and not once & used
        sure -= len(once & used) == 2  # of two whose key or natural key it has, both may be refused
        used |= once
    return found


def _errand(random: Random, number: int, span: int, stage: Stage) -> Errand:
    tenant = TENANTS[number] if number < 3 else random.choice(TENANTS)
    moves = MOVES if number % 3 != 2 else (Move.WORK, Move.WORK, *MOVES_OF_PARCELS)
    plan = [str(random.choice(moves)) for _ in range(random.choice((0, 0, 0, 0, 0, 1, 1, 3)))]
    pace = random.choice((0.5, 2, 10)) * (1 if stage.timings.lease > timedelta(seconds=60) else 0.2)
    args: dict[str, Any] = {"plan": plan, "pace": pace}
    steps = random.choice((1, 1, 2))
    if number % 3 == 2:
        args |= {"customer": f"c{random.randrange(6)}", "parts": steps}
    else:
        args |= {"name": "errand" + "x" * random.choice((0,) * 9 + (600,)), "steps": steps}
        args |= {"bulky": random.random() < 0.15}
    body: dict[str, Any] = {"kind": "parcel" if number % 3 == 2 else "errand", "args": args}
    if random.random() < 0.25:
        body["lane"] = random.choice(LANES)
    at = random.randrange(span)
    key = None if random.random() < 0.1 else f"key-{number if random.random() < 0.9 else number // 2}"
    if key is not None:
        body["labels"] = {"request": str(number)}
    if random.random() < 0.1:
        later = at + random.randrange(span // 2, 2 * span)
        body["run_at"] = (EPOCH + timedelta(milliseconds=later)).isoformat()
    while_it_runs = random.randrange(200, 3_000 + round(pace * steps * 1000))
    return Errand(
        at=at,
        tenant=tenant,
        body=body,
        key=key,
        polls=tuple(random.randrange(span // 20, span // 2) for _ in range(random.choice((0, 0, 1, 2)))),
        cancel_after=random.choice((while_it_runs, random.randrange(span))) if random.random() < 0.3 else None,
        again_after=random.randrange(span) if random.random() < 0.15 else None,
        retries=random.choice((0, 0, 1, 2)),
    )
