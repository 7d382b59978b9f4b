"""Ten thousand seeds of the simulated world, and how fast they go."""

import time
from statistics import median

from bench.results import record
from tests.simulation.many import simulated

SEEDS = 10_000


def main(seeds: int = SEEDS) -> None:
    begun = time.monotonic()
    report = simulated(0, seeds)
    seconds = time.monotonic() - begun
    print("\n".join(report.lines()))
    record(
        "simulation",
        {
            "seeds": seeds,
            "seeds_with_a_violation": len(report.broken),
            "jobs": sum(outcome.jobs for outcome in report.outcomes),
            "steps": sum(outcome.steps for outcome in report.outcomes),
            "median_steps": median(outcome.steps for outcome in report.outcomes),
            "faults": sum(report.faults.values()),
            "seconds": round(seconds),
            "seeds_per_minute": round(60 * seeds / seconds),
        },
    )
    if report.broken or report.shortfalls():
        raise SystemExit("the simulation found a violation, or did not cover what it must")


if __name__ == "__main__":
    main()
