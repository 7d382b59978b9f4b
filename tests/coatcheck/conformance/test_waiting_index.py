"""The index of who waits for a limiter: the longest waiting first, page by page, and counted."""

from coatcheck.job import UNMARKED, job_key
from coatcheck.store import Store
from coatcheck.write import put, update
from tests.coatcheck.rows import NOW, seconds


def add(store: Store, limiter: str | None, name: str, waited: float) -> None:
    since = None if limiter is None else NOW - seconds(waited)
    store.write(put(job_key(name), {"id": name, "waiting": limiter, "waits_since": since, "due_shard": name, "due": 1}))


def pages(store: Store, limiter: str) -> list[tuple[str, ...]]:
    found, start = [], None
    while True:
        page = store.waiting(limiter, start)
        found.append(page.ids)
        if page.next is None:
            return found
        start = page.next


def test_who_waits_is_listed_the_longest_waiting_first_and_nobody_else(store: Store, fresh: str) -> None:
    for name, waited in (("b", 1), ("c", -60), ("a", 60)):
        add(store, fresh, f"{fresh}-{name}", waited)
    add(store, f"{fresh}-other", f"{fresh}-d", 5)
    add(store, None, f"{fresh}-e", 5)
    assert pages(store, fresh) == [(f"{fresh}-a", f"{fresh}-b", f"{fresh}-c")]
    assert (store.count_waiting(fresh), store.count_waiting(f"{fresh}-nobody")) == (3, 0)


def test_pages_go_on_where_the_last_one_ended_although_its_jobs_wait_no_more(store: Store, fresh: str) -> None:
    names = [f"{fresh}-{number:02}" for number in range(9)]
    for number, name in enumerate(names):
        add(store, fresh, name, -number // 2)  # two at a time
    found, start = list[str](), None
    while True:
        page = store.waiting(fresh, start)
        for name in page.ids:
            store.write(update(job_key(name), (), UNMARKED))
        found += page.ids
        if page.next is None:
            break
        start = page.next
    assert sorted(found) == names
    assert store.count_waiting(fresh) == 0


def test_those_are_counted_who_wait_longer_up_to_a_hundred(store: Store, fresh: str) -> None:
    for number in range(103):
        store.write(put(job_key(f"{fresh}-{number}"), {"waiting": fresh, "waits_since": NOW + seconds(number)}))
    assert [store.count_waiting(fresh, before=NOW + seconds(number)) for number in (0, 1, 50, 102)] == [0, 1, 50, 100]
