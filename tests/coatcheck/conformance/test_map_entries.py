"""Entries of a row's map: set, removed, compared and counted by themselves, so that two who change others both land."""

import pytest

from coatcheck.job import job_key
from coatcheck.store import Refused, Store
from coatcheck.write import Condition, Key, absent, any_of, at_most, below, fewer, is_, put, update


def a_map(store: Store, fresh: str, held: dict[str, object]) -> Key:
    key = job_key(fresh)
    store.write(put(key, {"id": fresh, "held": held}))
    return key


def test_entries_are_set_and_removed_one_by_one(store: Store, fresh: str) -> None:
    key = a_map(store, fresh, {"j_1": 1})
    store.write(update(key, (), {"held.j_2": 2, "n": 1}))
    assert store.get(key) == {"id": fresh, "held": {"j_1": 1, "j_2": 2}, "n": 1}
    assert store.write(update(key, (), {"held.j_1": None, "held.j_3": None}))["held"] == {"j_2": 2}
    assert store.get(key) == {"id": fresh, "held": {"j_2": 2}, "n": 1}


@pytest.mark.parametrize(
    "condition",
    [is_("held.j_1", 3), below("held.j_1", 4), at_most("held.j_1", 3), absent("held.j_2"), fewer("held", 2)],
)
def test_a_condition_of_an_entry_that_holds_lets_the_write_land(store: Store, fresh: str, condition: Condition) -> None:
    key = a_map(store, fresh, {"j_1": 3})
    store.write(update(key, (condition,), {"held.j_2": 1}))
    assert store.get(key) == {"id": fresh, "held": {"j_1": 3, "j_2": 1}}


@pytest.mark.parametrize(
    "condition",
    [
        is_("held.j_1", 2),
        below("held.j_1", 3),
        below("held.j_2", 3),
        absent("held.j_1"),
        fewer("held", 1),
    ],
)
def test_a_condition_of_an_entry_that_does_not_hold_refuses_the_write(
    store: Store, fresh: str, condition: Condition
) -> None:
    key = a_map(store, fresh, {"j_1": 3})
    with pytest.raises(Refused) as refusal:
        store.write(update(key, (any_of(condition),), {"held.j_2": 1}))
    assert refusal.value.old == {"id": fresh, "held": {"j_1": 3}} == store.get(key)


def test_what_was_read_does_not_change_when_an_entry_does(store: Store, fresh: str) -> None:
    key = a_map(store, fresh, {"j_1": 1})
    before = store.get(key)
    store.write(update(key, (), {"held.j_1": 2}))
    assert before == {"id": fresh, "held": {"j_1": 1}}


def test_an_entry_of_a_map_that_is_not_there_cannot_be_set(store: Store, fresh: str) -> None:
    key = job_key(fresh)
    store.write(put(key, {"id": fresh}))
    with pytest.raises(Exception, match=r"path .* in the update"):
        store.write(update(key, (), {"held.j_1": 1}))
    assert store.get(key) == {"id": fresh}
