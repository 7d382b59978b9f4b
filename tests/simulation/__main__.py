"""Runs seeds: `python -m tests.simulation --seeds 1000 --from 0`, or replays one: `--seed 17`."""

import argparse
import sys

from tests.simulation.many import simulated
from tests.simulation.report import described, outcome_of
from tests.simulation.seed import job_rows, play, prepared
from tests.simulation.stage import set_up
from tests.simulation.story import story


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--job", default="", help="with --seed: only what concerns this job")
    asked = parser.parse_args()
    if asked.seeds < 1:
        parser.error(f"--seeds is how many, at least 1, not {asked.seeds}")
    if asked.first < 0 or (asked.seed or 0) < 0:
        parser.error("seeds are numbered from 0 up: one below would be another's twin")
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
        if job_id and all(job_id != change.key.id for change in run.world.changes):
            print(f"seed {seed} has no job {job_id}; it has:", *sorted(str(row["id"]) for row in job_rows(run.world)))
            return 2
        print("\n".join(story(run, job_id)))
        outcome = outcome_of(run)
    faults = sum(outcome.faults.values())
    print("\n".join(described(outcome)) or f"seed {seed} holds: {outcome.steps} steps, {faults} faults")
    return 1 if outcome.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
