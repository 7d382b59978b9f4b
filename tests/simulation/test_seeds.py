"""A thousand seeds: every law holds in each, and together they cover every transition and every fault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.report import described, played

PORTIONS = 2
SEEDS = 1000

REPLAY = """
from tests.simulation.report import digest
from tests.simulation.seed import play, prepared
from tests.simulation.stage import set_up

with set_up():
    run = prepared(7)
    play(run)
    print(digest(run))
"""


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_every_law_holds_in_every_seed_and_nothing_is_left_uncovered(portion: int) -> None:
    size = SEEDS // PORTIONS
    report = played(range(portion * size, (portion + 1) * size))
    print("\n".join(report.lines()))
    assert [line for outcome in report.broken for line in described(outcome)] == []
    assert report.shortfalls() == []


def test_a_seed_replays_exactly_in_another_process_whatever_its_hashes() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", REPLAY],
            env=os.environ | {"PYTHONHASHSEED": hashes},
            cwd=Path(__file__).parents[2],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout
        for hashes in ("1", "2")
    }
    assert len(digests) == 1
