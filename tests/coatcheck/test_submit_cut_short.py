"""Submits whose process dies on the way: wherever that is, the repetition gets the one job, and it runs once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

import pytest

from coatcheck.claim import Claimed, claim
from coatcheck.doorbell import Doorbell
from coatcheck.job import Job
from coatcheck.memory import MemoryQueues, MemoryStore
from coatcheck.ring import ring
from coatcheck.row import Row
from coatcheck.supervisor import supervise
from coatcheck.write import Write
from tests.coatcheck.rows import NOW, TIMINGS, a_bell, seconds
from tests.coatcheck.submits import asked, jobs_in


class Killed(BaseException):
    """The process is gone: no code of its own runs any more."""


@dataclass(kw_only=True)
class MortalStore(MemoryStore):
    """Its caller dies at one of its writes, before or after that takes effect."""

    dies_at: int = 0
    after: bool = False
    writes: int = 0

    def write(self, write: Write) -> Row:
        self._begin()
        row = super().write(write)
        self._end()
        return row

    def transact(self, writes: Sequence[Write]) -> None:
        self._begin()
        super().transact(writes)
        self._end()

    def _begin(self) -> None:
        self.writes += 1
        if self.writes == self.dies_at and not self.after:
            raise Killed

    def _end(self) -> None:
        if self.writes == self.dies_at:
            raise Killed


@dataclass(kw_only=True)
class MortalQueues(MemoryQueues):
    """The first to send a doorbell dies, before or after it is sent."""

    after: bool
    dead: bool = False

    def ring(self, lane: str, doorbell: Doorbell) -> None:
        dies, self.dead = not self.dead, True
        if dies and not self.after:
            raise Killed
        super().ring(lane, doorbell)
        if dies:
            raise Killed


def starts(store: MemoryStore, queues: MemoryQueues, job: Job) -> int:
    """Let the supervisor ring, and deliver each doorbell twice: how often the job starts."""
    later = NOW + timedelta(minutes=10)
    supervise(a_bell(store, queues), lambda: later, later + seconds(60))
    claims = [claim(store, bell, f"owner-{n}", later, TIMINGS) for n, (_, bell) in enumerate(queues.rung * 2)]
    assert {bell.job_id for _, bell in queues.rung} == {job.id}
    return sum(isinstance(each, Claimed) for each in claims)


@pytest.mark.parametrize("waited", [1, 31, 300])
@pytest.mark.parametrize("after", [False, True])
def test_a_submit_that_is_killed_at_any_write_leaves_no_key_in_progress(waited: float, *, after: bool) -> None:
    for cut in count(1):
        store = MortalStore(dies_at=cut, after=after)
        try:
            asked(store, key="k1")
        except Killed:
            pass
        else:
            assert cut > 1
            return
        accepted = asked(store, key="k1", now=NOW + seconds(waited)).job
        assert asked(store, key="k1", now=NOW + seconds(waited)).job == accepted
        assert jobs_in(store) == [accepted]
        assert starts(store, MemoryQueues(), accepted) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_job_whose_dispatcher_is_killed_before_or_after_the_send_still_starts_and_once(*, after: bool) -> None:
    store, queues = MemoryStore(), MortalQueues(after=after)
    job = asked(store, key="k1").job
    with pytest.raises(Killed):
        ring(a_bell(store, queues), job.id, NOW)
    assert asked(store, key="k1", now=NOW + seconds(1)).job.id == job.id
    assert starts(store, queues, job) == 1
