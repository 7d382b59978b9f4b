"""Runs seeds: `python -m tests.simulation --seeds 1000 --from 0`, or replays one: `--seed 17`."""

import argparse
import sys

from tests.simulation.many import simulated
from tests.simulation.report import described, outcome_of
from tests.simulation.seed import play, prepared
from tests.simulation.stage import set_up
from tests.simulation.story import story


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--job", default="", help="with --seed: only what concerns this job")
    asked = parser.parse_args()
    if asked.seed is not None:
        return replay(asked.seed, asked.job)
    report = simulated(asked.first, asked.seeds)
    print("\n".join(report.lines()))
    return 1 if report.broken or report.shortfalls() else 0


def replay(seed: int, job_id: str) -> int:
    """One seed, with everything that happened in it."""
    with set_up():
        run = prepared(seed, tracing=True)
        play(run)
        print("\n".join(story(run, job_id)))
        outcome = outcome_of(run)
    faults = sum(outcome.faults.values())
    print("\n".join(described(outcome)) or f"seed {seed} holds: {outcome.steps} steps, {faults} faults")
    return 1 if outcome.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
