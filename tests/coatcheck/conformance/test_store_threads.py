"""Stores under many threads: each write is atomic, each transaction isolated."""

from typing import Any

from coatcheck.job import job_key
from coatcheck.store import Store, TransactionRefused
from coatcheck.write import Key, Put, Table, absent, is_, put, update
from tests.coatcheck.submits import at_once

COUNTERS = 20


def test_twenty_threads_that_put_if_absent_make_one_row(store: Store, fresh: str) -> None:
    def once(number: int) -> int:
        own = Key(table=Table.IDEMPOTENCY, id=f"{fresh}-{number}")
        store.transact([put(job_key(fresh), {"by": number}, absent("by")), put(own, {"job_id": fresh})])
        return number

    results = at_once(20, once)
    winners = [each for each in results if isinstance(each, int)]
    row = store.get(job_key(fresh))
    assert row is not None
    assert winners == [row["by"]]
    assert {type(each) for each in results} == {int, TransactionRefused}
    assert sum(store.get(Key(table=Table.IDEMPOTENCY, id=f"{fresh}-{number}")) is not None for number in range(20)) == 1


def test_threads_that_count_up_under_a_condition_count_exactly(store: Store, fresh: str) -> None:
    key = job_key(fresh)
    store.write(Put(key=key, row={"id": fresh, "count": 0}))

    def count_up(number: int) -> int:
        own = Key(table=Table.IDEMPOTENCY, id=f"{fresh}-{number}")
        for tries in range(200):
            row: Any = store.get(key)
            try:
                store.transact(
                    [
                        update(key, (is_("count", row["count"]),), {"count": row["count"] + 1}),
                        put(own, {"tries": tries}),
                    ]
                )
            except TransactionRefused:
                continue
            return tries
        raise AssertionError("it was never let in")

    assert [each for each in at_once(COUNTERS, count_up) if not isinstance(each, int)] == []
    row = store.get(key)
    assert row is not None
    assert row["count"] == COUNTERS
