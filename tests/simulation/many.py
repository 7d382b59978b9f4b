"""Seeds by the thousand, in two processes."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.report import Outcome, Report, described, played

PORTION = 25
PROCESSES = 2


def simulated(first: int, seeds: int) -> Report:
    """Seeds in two processes."""
    report = Report()
    portions = [range(at, min(at + PORTION, first + seeds)) for at in range(first, first + seeds, PORTION)]
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        for outcomes in pool.map(portion, portions):
            for outcome in outcomes:
                report.add(outcome)
                if outcome.breaches:
                    print("\n".join(described(outcome)), file=sys.stderr)
            _tell(len(report.outcomes), seeds)
    return report


def _tell(done: int, seeds: int) -> None:
    """How far it is, to whoever looks on."""
    if sys.stderr.isatty():
        print(f"\r{done:,} of {seeds:,} seeds", end="\n" if done == seeds else "", file=sys.stderr, flush=True)


def portion(seeds: range) -> list[Outcome]:
    return played(seeds).outcomes
