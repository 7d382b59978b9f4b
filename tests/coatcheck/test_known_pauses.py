"""What a process knows of pauses: seldom looked up, and never acted upon when it may be over."""

from datetime import datetime

import pytest

from coatcheck.memory import MemoryStore
from coatcheck.pause import Order, Scope, limiter, pause, resume
from coatcheck.run.known_pauses import LOOK_UP_EVERY, KnownPauses
from tests.coatcheck.faults import FailingStore
from tests.coatcheck.rows import NOW, seconds

PROBE = limiter(Scope.KIND, "probe")
FIRST = Order(by="operator-1", at=NOW)
LATER = NOW + LOOK_UP_EVERY


class Process:
    """One that looks into a table, and how often it did."""

    def __init__(self) -> None:
        self.table = FailingStore(under=MemoryStore())
        self.known = KnownPauses(self.table)

    def held(self, now: datetime, since: datetime | None = None) -> bool:
        return self.known.hold("probe", "bulk", "acme", now, since) is not None

    @property
    def looked(self) -> int:
        found = self.table.calls.count("get")
        self.table.calls.clear()
        return found


@pytest.fixture
def process() -> Process:
    return Process()


def test_as_long_as_nothing_is_paused_it_looks_once_in_five_seconds(process: Process) -> None:
    for ms in range(0, 5000, 100):
        assert not process.held(NOW + seconds(ms / 1000))
    assert process.looked == 1
    assert not process.held(LATER)
    assert process.looked == 1


def test_a_pause_is_known_after_five_seconds_at_the_latest(process: Process) -> None:
    process.held(NOW)
    pause(process.table.under, PROBE, FIRST)
    assert not process.held(LATER - seconds(0.001))
    assert process.held(LATER)


def test_whoever_meets_a_mark_that_is_newer_than_what_it_knows_looks_at_once(process: Process) -> None:
    process.held(NOW)
    pause(process.table.under, PROBE, FIRST)
    assert not process.held(NOW + seconds(2), since=NOW - seconds(1))
    assert process.held(NOW + seconds(2), since=NOW + seconds(1))


def test_nobody_is_held_by_a_pause_that_is_over(process: Process) -> None:
    pause(process.table.under, PROBE, FIRST)
    assert process.held(NOW)
    resume(process.table.under, PROBE, FIRST)
    assert not process.held(NOW + seconds(0.001))


def test_a_pause_that_cannot_be_looked_up_stays_as_it_was_known(process: Process) -> None:
    pause(process.table.under, PROBE, FIRST)
    assert process.held(NOW)
    process.table.reads = 2
    assert process.held(LATER)
    assert process.looked == 2


def test_if_none_could_ever_be_looked_up_work_goes_on(process: Process) -> None:
    pause(process.table.under, PROBE, FIRST)
    process.table.reads = 1
    assert not process.held(NOW)


def test_a_look_that_failed_is_not_believed_for_five_seconds(process: Process) -> None:
    pause(process.table.under, PROBE, FIRST)
    process.table.reads = 1
    assert not process.held(NOW)
    assert process.held(NOW + seconds(0.001))


def test_a_clock_that_was_set_back_does_not_keep_old_knowledge_alive(process: Process) -> None:
    process.held(NOW)
    pause(process.table.under, PROBE, FIRST)
    assert process.held(NOW - seconds(3600))
