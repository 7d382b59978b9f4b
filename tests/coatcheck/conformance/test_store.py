"""Stores: consistent reads, conditional writes, transactions."""

import pytest
from botocore.exceptions import ClientError

from coatcheck.job import Error, Progress, StoredResult, args_key, job_key, job_of, row_of, step_key
from coatcheck.limits import ItemTooLarge
from coatcheck.row import Row
from coatcheck.store import Refused, Store, TransactionRefused
from coatcheck.write import (
    AnyOf,
    Condition,
    Key,
    Put,
    Table,
    Test,
    Update,
    absent,
    any_of,
    as_seen,
    at_most,
    below,
    is_,
    one_of,
    put,
    update,
)
from tests.coatcheck.rows import an_owned_job, seconds

VALUES: Row = {
    "text": "रिपोर्ट 🎟",
    "empty": "",
    "zero": 0,
    "large": 2**53,
    "negative": -(10**37),
    "yes": True,
    "no": False,
    "list": ["a", 1, False, [], {"b": []}],
    "map": {"a": {"b": "c", "n": 1}, "empty": {}},
    "no_items": [],
}


def stored(store: Store, name: str, row: Row) -> Key:
    """A row in the jobs table, which bears its own id."""
    key = job_key(name)
    store.write(Put(key=key, row={"id": name} | row))
    return key


def ABOVE(name: str, value: int) -> Condition:  # noqa: N802  # the port has this test, but no rule needs it yet
    return Condition(name=name, test=Test.ABOVE, value=value)


def refused(store: Store, write: Put | Update) -> Row | None:
    with pytest.raises(Refused) as refusal:
        store.write(write)
    return refusal.value.old


def test_what_was_put_is_read_back_value_by_value(store: Store, fresh: str) -> None:
    row = {"id": fresh} | VALUES
    assert store.write(Put(key=job_key(fresh), row=row)) == row
    found = store.get(job_key(fresh))
    assert found == row
    assert found is not None
    assert [type(value) for value in found.values()] == [type(found[name]) for name in found]
    assert found["yes"] is True


def test_a_job_is_read_back_as_it_was(store: Store, fresh: str) -> None:
    job = an_owned_job(
        id=fresh,
        labels={"team": "tax"},
        ran=seconds(1.5),
        progress=Progress(done=1, total=0, stage=""),
        error=Error(type="Timeout", message="", retryable=False),
        result=StoredResult(key="k", bytes=0),
    )
    store.write(Put(key=job.key, row=row_of(job)))
    row = store.get(job.key)
    assert row is not None
    assert job_of(row) == job


def test_what_is_not_there_is_none(store: Store, fresh: str) -> None:
    assert store.get(job_key(fresh)) is None


def test_what_lies_beside_a_job_is_apart_from_it_and_so_are_other_tables(store: Store, fresh: str) -> None:
    keys = [job_key(fresh), args_key(fresh), step_key(fresh, "charge"), Key(table=Table.IDEMPOTENCY, id=fresh)]
    for number, key in enumerate(keys):
        store.write(put(key, {"number": number}, absent("number")))
    rows = [store.get(key) for key in keys]
    assert [row["number"] if row else None for row in rows] == [0, 1, 2, 3]
    assert store.get(Key(table=Table.TENANTS, id=fresh)) is None


def test_putting_over_a_row_replaces_all_of_it(store: Store, fresh: str) -> None:
    key = stored(store, fresh, {"a": 1, "b": 2})
    store.write(Put(key=key, row={"id": fresh, "a": 3}))
    assert store.get(key) == {"id": fresh, "a": 3}


def test_a_refused_put_shows_what_stands_there_and_changes_nothing(store: Store, fresh: str) -> None:
    key = stored(store, fresh, {"a": 1})
    assert refused(store, put(key, {"a": 2}, absent("a"))) == {"id": fresh, "a": 1}
    assert store.get(key) == {"id": fresh, "a": 1}


def test_an_update_changes_what_it_names_and_returns_the_row_as_it_then_is(store: Store, fresh: str) -> None:
    key = stored(store, fresh, {"a": 1, "b": 2, "c": 3})
    after = {"id": fresh, "a": 1, "b": 7, "d": "new"}
    assert store.write(update(key, (), {"b": 7, "c": None, "d": "new", "was_never_there": None})) == after
    assert store.get(key) == after


def test_an_update_requires_the_row_so_that_nothing_is_resurrected(store: Store, fresh: str) -> None:
    assert refused(store, update(job_key(fresh), (), {"a": 1})) is None
    assert refused(store, update(job_key(fresh), (absent("a"),), {"a": 1})) is None
    other = Key(table=Table.IDEMPOTENCY, id=fresh)
    assert refused(store, update(other, (), {"a": 1})) is None
    assert store.get(job_key(fresh)) is None


def test_a_value_that_is_set_if_absent_is_set_once(store: Store, fresh: str) -> None:
    key = stored(store, fresh, {})
    for started_at in (1, 2):
        store.write(update(key, (), {"state": "running"}, set_if_absent={"started_at": started_at}))
    row = store.get(key)
    assert row is not None
    assert row["started_at"] == 1


@pytest.mark.parametrize("name", ["status", "state", "ttl", "error", "result", "name", "order", "size", "owner", "key"])
def test_reserved_words_are_names_like_others(store: Store, fresh: str, name: str) -> None:
    place = Key(table=Table.JOBS, id=fresh, item="words")
    names = {f"{name}": 1, f"{name}_2": 2}
    if name == "key":  # the tables' own attribute: only others may be called so
        names = {"keys": 1, "keys_2": 2}
    first, second = names
    store.write(put(place, names, absent(first)))
    store.write(update(place, (is_(first, 1),), {first: 3, second: None}))
    row = store.get(place)
    assert row is not None
    assert (row[first], row.get(second)) == (3, None)


N = 5
HOLDING: list[Condition | AnyOf] = [
    is_("n", N),
    is_("s", "text"),
    is_("yes", True),
    is_("map", {"a": 1}),
    below("n", N + 1),
    at_most("n", N),
    ABOVE("n", N - 1),
    one_of("s", "other", "text"),
    one_of("n", N),
    absent("gone"),
    as_seen("gone", None),
    as_seen("n", N),
    any_of(is_("n", 9), absent("gone")),
    any_of(is_("n", N), is_("s", "other")),
]
FAILING: list[Condition | AnyOf] = [
    is_("n", N + 1),
    is_("n", "5"),
    is_("yes", False),
    is_("gone", 0),
    is_("map", {"a": 2}),
    below("n", N),
    at_most("n", N - 1),
    ABOVE("n", N),
    one_of("s", "other"),
    absent("n"),
    absent("no"),
    as_seen("n", None),
    below("gone", N),
    at_most("gone", N),
    ABOVE("gone", -1),
    one_of("gone", "", 0),
    any_of(is_("n", 9), absent("s")),
]


@pytest.mark.parametrize("condition", HOLDING, ids=str)
def test_a_write_whose_condition_holds_lands(store: Store, fresh: str, condition: Condition | AnyOf) -> None:
    key = stored(store, fresh, {"n": N, "s": "text", "yes": True, "no": False, "map": {"a": 1}})
    store.write(update(key, (condition,), {"landed": 1}))
    row = store.get(key)
    assert row is not None
    assert row["landed"] == 1


@pytest.mark.parametrize("condition", FAILING, ids=str)
def test_a_write_whose_condition_does_not_hold_is_refused_with_the_row(
    store: Store, fresh: str, condition: Condition | AnyOf
) -> None:
    key = stored(store, fresh, {"n": N, "s": "text", "yes": True, "no": False, "map": {"a": 1}})
    before = store.get(key)
    assert refused(store, update(key, (condition,), {"landed": 1})) == before
    assert refused(store, update(key, (absent("gone"), condition), {"landed": 1})) == before
    assert store.get(key) == before


def test_a_transaction_writes_all_or_nothing_over_tables(store: Store, fresh: str) -> None:
    job, key = job_key(fresh), Key(table=Table.IDEMPOTENCY, id=fresh)
    store.transact([put(job, {"id": fresh, "a": 1}, absent("a")), put(key, {"job_id": fresh}, absent("job_id"))])
    with pytest.raises(TransactionRefused) as refusal:
        store.transact([update(job, (is_("a", 1),), {"a": 2}), put(key, {"job_id": "x"}, absent("job_id"))])
    assert refusal.value.refused == {1: {"job_id": fresh}}
    assert store.get(job) == {"id": fresh, "a": 1}


def test_a_refused_transaction_names_every_write_that_was_in_the_way_and_what_stood_there(
    store: Store, fresh: str
) -> None:
    one = stored(store, fresh, {"a": 1})
    gone = job_key(f"{fresh}-gone")
    free = job_key(f"{fresh}-free")
    with pytest.raises(TransactionRefused) as refusal:
        store.transact(
            [put(free, {"a": 1}, absent("a")), update(gone, (), {"a": 1}), update(one, (is_("a", 2),), {"a": 3})]
        )
    assert refusal.value.refused == {1: None, 2: {"id": fresh, "a": 1}}
    assert store.get(free) is None


def test_a_transaction_that_touches_an_item_twice_is_refused_as_a_whole(store: Store, fresh: str) -> None:
    write = put(job_key(fresh), {"a": 1})
    with pytest.raises((ValueError, ClientError)):
        store.transact([write, write])
    assert store.get(job_key(fresh)) is None


def test_an_item_over_400_kb_is_refused_and_nothing_of_it_is_kept(store: Store, fresh: str) -> None:
    with pytest.raises((ItemTooLarge, ClientError), match=r"400 KB|size"):
        store.write(put(job_key(fresh), {"a": "x" * 401 * 1024}))
    assert store.get(job_key(fresh)) is None
