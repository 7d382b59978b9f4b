"""Limits of a tenant: what several operators do at once is done, and nothing of the tenant's own use is touched."""

from dataclasses import replace

import pytest

from coatcheck.memory import MemoryStore
from coatcheck.problem import Busy
from coatcheck.tenant_limits import (
    LimitOutOfRange,
    TenantLimits,
    change_limits,
    check_limits,
    limits_key,
    limits_of,
)
from coatcheck.write import put


def test_what_another_operator_set_meanwhile_stays() -> None:
    store = MemoryStore()
    met: list[TenantLimits] = []

    def change(known: TenantLimits) -> TenantLimits:
        if not met:
            change_limits(store, "acme", lambda other: replace(other, burst=7, caps={"bulk": 20}))
        met.append(known)
        return replace(known, open_jobs=5, caps={**known.caps, "interactive": 4})

    expected = TenantLimits(burst=7, open_jobs=5, caps={"bulk": 20, "interactive": 4})
    assert change_limits(store, "acme", change) == expected
    assert limits_of(store.get(limits_key("acme"))) == expected
    assert len(met) == 2


def test_an_item_that_was_made_by_hand_can_be_changed_and_reset() -> None:
    store = MemoryStore()
    store.write(put(limits_key("acme"), {"caps": {"interactive": 9}, "note": "pays more"}))
    change_limits(store, "acme", lambda known: replace(known, burst=7))
    assert limits_of(store.get(limits_key("acme"))) == TenantLimits(burst=7, caps={"interactive": 9})
    change_limits(store, "acme", lambda _: TenantLimits())
    assert store.get(limits_key("acme")) == {"tenant": "acme", "caps": {}, "note": "pays more"}


def test_who_is_always_too_late_is_told() -> None:
    store = MemoryStore()
    numbers = iter(range(1, 100))

    def change(known: TenantLimits) -> TenantLimits:
        change_limits(store, "acme", lambda other: replace(other, burst=next(numbers)))
        return replace(known, open_jobs=5)

    with pytest.raises(Busy):
        change_limits(store, "acme", change)


@pytest.mark.parametrize(
    "limits",
    [TenantLimits(burst=0), TenantLimits(open_jobs=10**6 + 1), TenantLimits(caps={"bulk": 101})],
)
def test_limits_out_of_range_are_not_written(limits: TenantLimits) -> None:
    store = MemoryStore()
    with pytest.raises(LimitOutOfRange):
        change_limits(store, "acme", lambda _: limits)
    assert store.rows == {}


def test_limits_at_the_ends_of_their_ranges_are_fine() -> None:
    check_limits(TenantLimits(requests_per_second=1, burst=1, open_jobs=1, caps={"bulk": 1, "interactive": 100}))
    check_limits(TenantLimits(requests_per_second=10_000, burst=100_000, open_jobs=10**6))
