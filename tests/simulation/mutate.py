"""Every mutation, and what caught it: `python -m tests.simulation.mutate`. Fails if one is not caught."""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.simulation.mutation import Mutation
from tests.simulation.mutations import MUTATIONS
from tests.simulation.report import played

PROCESSES = 2
ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 900


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, as the table names them")
    asked = parser.parse_args().names
    mutations = [each for each in MUTATIONS if not asked or each.name in asked]
    if unknown := set(asked) - {each.name for each in mutations}:
        parser.error(f"no mutation is called {', '.join(sorted(map(repr, unknown)))}")
    width = max(len(each.name) for each in mutations)
    missed = 0
    seeds: set[int] = set()
    with ThreadPoolExecutor(PROCESSES) as pool:
        for mutation, caught in zip(mutations, pool.map(_caught, mutations), strict=True):
            missed += not caught
            seed = caught.get("seed")
            seeds |= set() if seed is None else {seed}
            by = f"{caught['law']}, {'a scene' if seed is None else f'seed {seed}'}" if caught else "NOT CAUGHT"
            print(f"{mutation.name:{width}}  {by}", flush=True)
    broken = [outcome.seed for outcome in played(sorted(seeds)).broken]
    print(f"{len(mutations) - missed} of {len(mutations)} caught; without them, {len(seeds)} seeds break {len(broken)}")
    return 1 if missed or broken else 0


def _caught(mutation: Mutation) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.simulation.mutant", mutation.name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if ran.returncode != 0:
        raise SystemExit(f"{mutation.name}: {ran.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
