"""The index of what is due: by shard, oldest first, page by page."""

from coatcheck.job import job_key
from coatcheck.row import Row, milliseconds
from coatcheck.store import RowPage, Store
from coatcheck.write import Put, put, update
from tests.coatcheck.rows import NOW, seconds


def due_job(store: Store, shard: str, name: str, seconds_from_now: float | None) -> None:
    row = {"id": name, "due_shard": shard, "a": 1}
    due = None if seconds_from_now is None else milliseconds(NOW + seconds(seconds_from_now))
    store.write(put(job_key(name), row | {"due": due}))


def pages(store: Store, shard: str) -> list[tuple[str, ...]]:
    found, start = [], None
    while True:
        page = store.due(shard, NOW, start)
        found.append(page.ids)
        if page.next is None:
            return found
        start = page.next


def test_what_is_due_is_listed_longest_due_first_up_to_this_very_moment(store: Store, fresh: str) -> None:
    for name, age in (("b", -1), ("a", -60), ("now", 0), ("soon", 0.001), ("never", None)):
        due_job(store, fresh, f"{fresh}-{name}", age)
    assert pages(store, fresh) == [(f"{fresh}-a", f"{fresh}-b", f"{fresh}-now")]


def test_shards_are_apart(store: Store, fresh: str) -> None:
    due_job(store, fresh, f"{fresh}-here", -1)
    due_job(store, f"{fresh}-other", f"{fresh}-there", -1)
    assert pages(store, fresh) == [(f"{fresh}-here",)]
    assert pages(store, f"{fresh}-third") == [()]


def test_a_job_whose_due_was_moved_or_removed_is_no_longer_listed(store: Store, fresh: str) -> None:
    due_job(store, fresh, f"{fresh}-moved", -1)
    due_job(store, fresh, f"{fresh}-removed", -1)
    store.write(update(job_key(f"{fresh}-moved"), (), {"due": NOW + seconds(60)}))
    store.write(update(job_key(f"{fresh}-removed"), (), {"due": None}))
    assert pages(store, fresh) == [()]


def many_due(store: Store, shard: str, number: int) -> list[str]:
    """Some jobs that are due, those of equal due among them, oldest first."""
    names = [f"{shard}-{position:03}" for position in range(number)]
    oldest = milliseconds(NOW) - number
    for position, name in enumerate(names):
        store.write(Put(key=job_key(name), row={"id": name, "due_shard": shard, "due": oldest + position // 2}))
    return names


def test_pages_follow_each_other_without_gap_or_repetition(store: Store, fresh: str) -> None:
    names = many_due(store, fresh, 10)
    found = pages(store, fresh)
    assert [len(page) for page in found] == [4, 4, 2]
    listed = [name for page in found for name in page]
    assert sorted(listed) == names
    assert [int(name[-3:]) // 2 for name in listed] == sorted(int(name[-3:]) // 2 for name in listed)


def test_the_next_page_goes_on_where_the_last_one_ended_although_its_jobs_were_rung_meanwhile(
    store: Store, fresh: str
) -> None:
    names = many_due(store, fresh, 6)
    first = store.due(fresh, NOW)
    for name in first.ids:
        store.write(update(job_key(name), (), {"due": NOW + seconds(60)}))
    second = store.due(fresh, NOW, first.next)
    assert sorted(first.ids + second.ids) == names
    assert second.next is None


def test_of_every_job_that_will_be_due_the_index_shows_what_the_load_is_made_of(store: Store, fresh: str) -> None:
    shown: Row = {"lane": "bulk", "state": "queued", "ready_at": 5, "waiting": "pause#kind#probe", "tenant": "acme"}
    row: Row = {"id": fresh, "due_shard": fresh, "due": milliseconds(NOW + seconds(10**6)), "kind": "probe"}
    store.write(put(job_key(fresh), row | shown))
    store.write(put(job_key(f"{fresh}-2"), {"id": f"{fresh}-2", "due_shard": fresh, "due": 1, "lane": "bulk"}))
    store.write(put(job_key(f"{fresh}-done"), {"id": f"{fresh}-done", "due_shard": fresh, "state": "failed"}))
    assert store.all_due(fresh) == RowPage(rows=({"lane": "bulk"}, shown))
    store.write(update(job_key(fresh), (), {"due": None}))
    assert store.all_due(fresh) == RowPage(rows=({"lane": "bulk"},))
    assert store.all_due(f"{fresh}-other") == RowPage(rows=())


def test_the_pages_of_all_that_will_be_due_follow_each_other_without_gap_or_repetition(
    store: Store, fresh: str
) -> None:
    oldest = milliseconds(NOW)
    for number in range(90):
        row = Put(key=job_key(f"{fresh}-{number}"), row={"due_shard": fresh, "due": oldest, "ready_at": number})
        store.write(row)
    found, start = list(store.all_due(fresh).rows), store.all_due(fresh).next
    while start is not None:
        page = store.all_due(fresh, start)
        found, start = found + list(page.rows), page.next
    assert sorted(int(str(row["ready_at"])) for row in found) == list(range(90))
