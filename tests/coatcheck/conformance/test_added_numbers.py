"""Numbers that are added to: whoever adds at the same time, all of it counts."""

import pytest

from coatcheck.job import job_key
from coatcheck.limits import BeyondLimits
from coatcheck.memory import MemoryStore
from coatcheck.store import Refused, Store
from coatcheck.write import at_most, put, update


def test_what_is_added_is_on_top_of_what_is_there_and_an_absent_number_is_zero(store: Store, fresh: str) -> None:
    key = job_key(fresh)
    store.write(put(key, {"id": fresh, "seen": 10**15, "by": "me"}))
    assert store.write(update(key, (), {"by": None}, add={"seen": 5, "new": 2}))["seen"] == 10**15 + 5
    store.write(update(key, (), {"set": True}, add={"new": -3}))
    assert store.get(key) == {"id": fresh, "seen": 10**15 + 5, "new": -1, "set": True}


def test_nothing_is_added_if_the_condition_does_not_hold_or_the_row_is_not_there(store: Store, fresh: str) -> None:
    key = job_key(fresh)
    with pytest.raises(Refused):
        store.write(update(key, (), {}, add={"seen": 1}))
    assert store.get(key) is None
    store.write(put(key, {"id": fresh, "seen": 3}))
    with pytest.raises(Refused) as refusal:
        store.write(update(key, (at_most("seen", 2),), {}, add={"seen": 1}))
    assert refusal.value.old == {"id": fresh, "seen": 3} == store.get(key)


def test_numbers_are_added_to_numbers() -> None:
    store = MemoryStore(rows={job_key("j_1"): {"text": "3"}})
    with pytest.raises(BeyondLimits):
        store.write(update(job_key("j_1"), (), {}, add={"text": 1}))
