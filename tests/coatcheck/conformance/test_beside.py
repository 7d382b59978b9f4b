"""What lies beside a job's row, found by the prefix of its name."""

from coatcheck.job import job_key
from coatcheck.row import Row
from coatcheck.store import Store
from coatcheck.write import Key, Table, put


def add(store: Store, job_id: str, *names: str) -> None:
    for number, name in enumerate(names):
        store.write(put(Key(table=Table.JOBS, id=job_id, item=name), {"name": name, "number": number}))


def names(rows: list[Row]) -> list[str]:
    return [str(row["name"]) for row in rows]


def test_what_has_the_prefix_is_found_last_name_first_and_nothing_else(store: Store, fresh: str) -> None:
    add(store, fresh, "step#1", "history#02", "history#10", "history#1", "args", "histor")
    add(store, f"{fresh}-other", "history#05")
    store.write(put(job_key(fresh), {"id": fresh}))
    found = store.beside(fresh, "history#", 10)
    assert names(found) == ["history#10", "history#1", "history#02"]
    assert [row["number"] for row in found] == [2, 3, 1]
    assert store.beside(f"{fresh}-nobody", "history#", 10) == []


def test_no_more_than_was_asked_for_is_read(store: Store, fresh: str) -> None:
    add(store, fresh, *(f"history#{number}" for number in range(6)))
    assert names(store.beside(fresh, "history#", 2)) == ["history#5", "history#4"]
    assert len(store.beside(fresh, "history#", 6)) == 6
