"""The index of a tenant's jobs, and reads of several rows at once."""

from coatcheck.job import args_key, job_key, row_of
from coatcheck.store import ListPage, Store
from coatcheck.write import Key, Put, Table, put
from tests.coatcheck.rows import a_job


def add(store: Store, tenant: str, *names: str) -> list[str]:
    """Jobs of a tenant; their ids are ordered as their names."""
    ids = [f"{tenant}-{name}" for name in names]
    for job_id in ids:
        job = a_job(id=job_id, tenant=tenant)
        store.write(Put(key=job.key, row=row_of(job)))
    return ids


def test_a_tenants_jobs_are_listed_newest_first_and_nobody_elses(store: Store, fresh: str) -> None:
    add(store, fresh, "1", "3", "2")
    add(store, f"{fresh}-other", "4")
    assert store.listed(fresh, 10) == ListPage(ids=(f"{fresh}-3", f"{fresh}-2", f"{fresh}-1"), more=False)
    assert store.listed("nobody", 10) == ListPage(ids=(), more=False)


def test_a_list_goes_on_before_any_id_whether_or_not_it_is_there(store: Store, fresh: str) -> None:
    add(store, fresh, "1", "2", "4", "5")
    first = store.listed(fresh, 2)
    assert (first.ids, first.more) == ((f"{fresh}-5", f"{fresh}-4"), True)
    assert store.listed(fresh, 10, f"{fresh}-4") == ListPage(ids=(f"{fresh}-2", f"{fresh}-1"), more=False)
    assert store.listed(fresh, 10, f"{fresh}-3").ids == (f"{fresh}-2", f"{fresh}-1")
    assert store.listed(fresh, 10, f"{fresh}-1") == ListPage(ids=(), more=False)


def test_what_lies_beside_a_job_is_not_listed(store: Store, fresh: str) -> None:
    (job_id,) = add(store, fresh, "1")
    store.write(put(args_key(job_id), {"args": "{}"}))
    assert store.listed(fresh, 10).ids == (job_id,)


def test_several_rows_are_read_at_once_and_what_is_not_there_is_left_out(store: Store, fresh: str) -> None:
    one, two = add(store, fresh, "1", "2")
    other = Key(table=Table.IDEMPOTENCY, id=fresh)
    store.write(put(other, {"job_id": one}))
    store.write(put(args_key(one), {"args": "{}"}))
    keys = [job_key(one), job_key(f"{fresh}-3"), args_key(one), job_key(two), other]
    found = store.get_many(keys)
    assert found == {key: store.get(key) for key in (job_key(one), args_key(one), job_key(two), other)}


def test_a_hundred_rows_can_be_read_at_once(store: Store, fresh: str) -> None:
    ids = add(store, fresh, *(f"{number:03}" for number in range(100)))
    assert len(store.get_many([job_key(job_id) for job_id in ids])) == 100
