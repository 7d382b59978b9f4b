"""A held lease and lost answers: each write knows its own echo, and none comes after the end."""

import json
from collections.abc import Callable

import pytest

from coatcheck.endings import LeaseLost
from coatcheck.job import Error, Job, Progress
from coatcheck.outcome import Failed, Result, Snoozed, Succeeded
from coatcheck.store import Unavailable
from tests.coatcheck.attempts import Attempt
from tests.coatcheck.faults import FailingStore, RepeatingStore, losing
from tests.coatcheck.rows import NOW, an_owned_job, seconds, stored

SUCCESS = Succeeded(result=Result(rows=1))
TRANSIENT = Failed(error=Error(type="Timeout", message="no answer"))
LARGE = json.dumps({"parts": "x" * 2000})
MIDDLE = 0.5


WRITES: list[Callable[[Attempt], object]] = [
    lambda at: at.lease.save('{"done":7}'),
    lambda at: at.lease.save(LARGE),
    lambda at: at.lease.beat(at.through or at.store),
    lambda at: at.lease.settle(SUCCESS, MIDDLE),
    lambda at: at.lease.settle(TRANSIENT, MIDDLE),
    lambda at: at.lease.settle(Snoozed(delay=seconds(9)), MIDDLE),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_write_whose_answer_was_lost_knows_its_own_echo(write: Callable[[Attempt], object]) -> None:
    store = stored(an_owned_job())
    at = Attempt(store=store, through=RepeatingStore(under=store))
    write(at)
    assert at.lease.job == at.row


@pytest.mark.parametrize("write", [each for each in WRITES if each is not WRITES[2]])
@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_write_without_an_answer_is_asked_again_while_the_lease_lives(
    write: Callable[[Attempt], object], lost: str
) -> None:
    store = stored(an_owned_job())
    at = Attempt(store=store, through=losing(store, lost, 3))
    write(at)
    assert at.lease.job == at.row
    assert at.row.failures <= 1


def test_a_write_is_given_up_when_the_lease_is_about_to_end() -> None:
    store = stored(an_owned_job())
    at = Attempt(store=store, through=FailingStore(under=store, before=10**6))
    with pytest.raises(Unavailable):
        at.lease.save("1")
    assert NOW + seconds(58) <= at.clock.now() < NOW + seconds(60)


def test_nothing_can_be_written_after_the_end() -> None:
    at = Attempt()
    ended: Job = at.lease.settle(SUCCESS, MIDDLE)
    for write in WRITES:
        with pytest.raises(LeaseLost):
            write(at)
    with pytest.raises(LeaseLost):
        at.lease.report(Progress(done=9))
    assert at.row == ended
