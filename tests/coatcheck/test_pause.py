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
RAVI = Order(by="ravi", at=NOW)
MEERA = Order(by="meera", at=NOW + seconds(60))


def test_nothing_is_paused_at_first() -> None:
    assert pauses(MemoryStore()) == Pauses()


def test_a_pause_is_kept_with_who_and_when() -> None:
    store = MemoryStore()
    pause(store, PROBE, RAVI)
    pause(store, ACME, MEERA)
    assert (pauses(store).held, pauses(store).resumed) == ({PROBE: RAVI, ACME: MEERA}, {})


def test_whoever_paused_first_stays_the_one_who_did() -> None:
    store = MemoryStore()
    pause(store, PROBE, RAVI)
    pause(store, PROBE, MEERA)
    assert pauses(store).held == {PROBE: RAVI}


def test_what_is_resumed_is_remembered_until_nobody_waits_for_it() -> None:
    store = MemoryStore()
    pause(store, PROBE, RAVI)
    pause(store, BULK, RAVI)
    resume(store, PROBE, MEERA)
    assert (pauses(store).held, pauses(store).resumed) == ({BULK: RAVI}, {PROBE: MEERA})
    forget(store, PROBE, MEERA)
    assert (pauses(store).held, pauses(store).resumed) == ({BULK: RAVI}, {})


def test_what_is_paused_again_is_no_longer_resumed_and_a_late_walk_does_not_forget_that() -> None:
    store = MemoryStore()
    pause(store, PROBE, RAVI)
    resume(store, PROBE, MEERA)
    pause(store, PROBE, MEERA)
    assert (pauses(store).held, pauses(store).resumed) == ({PROBE: MEERA}, {})
    forget(store, PROBE, MEERA)
    assert pauses(store).held == {PROBE: MEERA}


def test_a_walk_that_began_before_the_last_resume_forgets_nothing() -> None:
    store = MemoryStore()
    for order in (RAVI, MEERA):
        pause(store, PROBE, order)
        resume(store, PROBE, order)
    forget(store, PROBE, RAVI)
    assert pauses(store).resumed == {PROBE: MEERA}


@pytest.mark.parametrize("what", [PROBE, limiter(Scope.TENANT, "a#b")])
def test_what_is_not_paused_cannot_be_resumed_so_that_a_typo_is_seen(what: str) -> None:
    scope, name = paused_part(what)
    with pytest.raises(NotFound) as refused:
        resume(MemoryStore(), what, RAVI)
    assert refused.value.detail == f"the {scope} {name} is not paused"


def test_a_call_that_is_repeated_changes_nothing_more() -> None:
    store = MemoryStore()
    repeating = RepeatingStore(under=store)
    pause(repeating, PROBE, RAVI)
    resume(repeating, PROBE, MEERA)
    resume(store, PROBE, Order(by="meera", at=NOW + seconds(99)))
    assert pauses(store).resumed == {PROBE: MEERA}


def test_operators_at_once_lose_nothing() -> None:
    store = MemoryStore()
    names = [limiter(Scope.TENANT, f"tenant-{number}") for number in range(4)]
    assert at_once(4, lambda number: pause(store, names[number], RAVI)) == [None] * 4
    assert pauses(store).held == dict.fromkeys(names, RAVI)


@dataclass(kw_only=True)
class Crowded(FailingStore):
    """Somebody else is always faster."""

    def write(self, write: Write) -> Row:
        raise Refused(self.under.get(write.key))


def test_who_is_never_the_first_is_told_to_try_again() -> None:
    with pytest.raises(Busy):
        pause(Crowded(under=MemoryStore()), PROBE, RAVI)


def test_a_job_is_held_by_its_kind_its_lane_or_its_tenant_and_by_nothing_else() -> None:
    for what in (PROBE, BULK, ACME):
        known = Pauses(held={what: RAVI}, resumed={PROBE: MEERA})
        hold = known.on("probe", "bulk", "acme")
        assert hold is not None
        assert (hold.limiter, hold.by) == (what, "ravi")
        assert known.on("other", "interactive", "globex") is None
    assert Pauses(resumed={PROBE: RAVI}).on("probe", "bulk", "acme") is None


def test_of_several_holds_it_is_always_the_same_one_that_a_job_names() -> None:
    for held in ({PROBE: RAVI, BULK: RAVI, ACME: RAVI}, {ACME: RAVI, BULK: RAVI, PROBE: RAVI}):
        hold = Pauses(held=held).on("probe", "bulk", "acme")
        assert hold is not None
        assert hold.limiter == PROBE
