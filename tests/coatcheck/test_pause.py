"""The pauses item: who holds what back, whoever else is at it at the same time."""

from dataclasses import dataclass

import pytest

from coatcheck.memory import MemoryStore
from coatcheck.pause import Order, Pauses, Scope, forget, limiter, pause, paused_part, pauses, resume
from coatcheck.problem import Busy, NotFound
from coatcheck.row import Row
from coatcheck.store import Refused
from coatcheck.write import Write
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import NOW, seconds
from tests.coatcheck.submits import at_once

PROBE = limiter(Scope.KIND, "probe")
BULK = limiter(Scope.LANE, "bulk")
ACME = limiter(Scope.TENANT, "acme")
FIRST = Order(by="operator-1", at=NOW)
SECOND = Order(by="operator-2", at=NOW + seconds(60))


def test_nothing_is_paused_at_first() -> None:
    assert pauses(MemoryStore()) == Pauses()


def test_a_pause_is_kept_with_who_and_when() -> None:
    store = MemoryStore()
    pause(store, PROBE, FIRST)
    pause(store, ACME, SECOND)
    assert (pauses(store).held, pauses(store).resumed) == ({PROBE: FIRST, ACME: SECOND}, {})


def test_whoever_paused_first_stays_the_one_who_did() -> None:
    store = MemoryStore()
    pause(store, PROBE, FIRST)
    pause(store, PROBE, SECOND)
    assert pauses(store).held == {PROBE: FIRST}


def test_what_is_resumed_is_remembered_until_nobody_waits_for_it() -> None:
    store = MemoryStore()
    pause(store, PROBE, FIRST)
    pause(store, BULK, FIRST)
    resume(store, PROBE, SECOND)
    assert (pauses(store).held, pauses(store).resumed) == ({BULK: FIRST}, {PROBE: SECOND})
    forget(store, PROBE, SECOND)
    assert (pauses(store).held, pauses(store).resumed) == ({BULK: FIRST}, {})


def test_what_is_paused_again_is_no_longer_resumed_and_a_late_walk_does_not_forget_that() -> None:
    store = MemoryStore()
    pause(store, PROBE, FIRST)
    resume(store, PROBE, SECOND)
    pause(store, PROBE, SECOND)
    assert (pauses(store).held, pauses(store).resumed) == ({PROBE: SECOND}, {})
    forget(store, PROBE, SECOND)
    assert pauses(store).held == {PROBE: SECOND}


def test_a_walk_that_began_before_the_last_resume_forgets_nothing() -> None:
    store = MemoryStore()
    for order in (FIRST, SECOND):
        pause(store, PROBE, order)
        resume(store, PROBE, order)
    forget(store, PROBE, FIRST)
    assert pauses(store).resumed == {PROBE: SECOND}


@pytest.mark.parametrize("what", [PROBE, limiter(Scope.TENANT, "a#b")])
def test_what_is_not_paused_cannot_be_resumed_so_that_a_typo_is_seen(what: str) -> None:
    scope, name = paused_part(what)
    with pytest.raises(NotFound) as refused:
        resume(MemoryStore(), what, FIRST)
    assert refused.value.detail == f"the {scope} {name} is not paused"


def test_a_call_that_is_repeated_changes_nothing_more() -> None:
    store = MemoryStore()
    repeating = RepeatingStore(under=store)
    pause(repeating, PROBE, FIRST)
    resume(repeating, PROBE, SECOND)
    resume(store, PROBE, Order(by="operator-2", at=NOW + seconds(99)))
    assert pauses(store).resumed == {PROBE: SECOND}


def test_operators_at_once_lose_nothing() -> None:
    store = MemoryStore()
    names = [limiter(Scope.TENANT, f"tenant-{number}") for number in range(4)]
    assert at_once(4, lambda number: pause(store, names[number], FIRST)) == [None] * 4
    assert pauses(store).held == dict.fromkeys(names, FIRST)


@dataclass(kw_only=True)
class Crowded(FailingStore):
    """Somebody else is always faster."""

    def write(self, write: Write) -> Row:
        raise Refused(self.under.get(write.key))


def test_who_is_never_the_first_is_told_to_try_again() -> None:
    with pytest.raises(Busy):
        pause(Crowded(under=MemoryStore()), PROBE, FIRST)


def test_a_job_is_held_by_its_kind_its_lane_or_its_tenant_and_by_nothing_else() -> None:
    for what in (PROBE, BULK, ACME):
        known = Pauses(held={what: FIRST}, resumed={PROBE: SECOND})
        hold = known.on("probe", "bulk", "acme")
        assert hold is not None
        assert (hold.limiter, hold.by) == (what, "operator-1")
        assert known.on("other", "interactive", "globex") is None
    assert Pauses(resumed={PROBE: FIRST}).on("probe", "bulk", "acme") is None


def test_of_several_holds_it_is_always_the_same_one_that_a_job_names() -> None:
    for held in ({PROBE: FIRST, BULK: FIRST, ACME: FIRST}, {ACME: FIRST, BULK: FIRST, PROBE: FIRST}):
        hold = Pauses(held=held).on("probe", "bulk", "acme")
        assert hold is not None
        assert hold.limiter == PROBE
