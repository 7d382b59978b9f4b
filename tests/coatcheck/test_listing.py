"""Lists: pages that lose and repeat nothing, filters, and cursors that nobody can forge."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.caller import Caller
from coatcheck.job import Job, State, job_key, row_of
from coatcheck.job_id import is_job_id, new_job_id
from coatcheck.listing import MOST_CANDIDATES, MOST_PAGES, Listing, cursor, list_jobs, listing_of, next_link
from coatcheck.memory import MemoryStore
from coatcheck.problem import BadRequest
from coatcheck.row import Row
from coatcheck.store import ListPage
from coatcheck.write import Key
from tests.coatcheck.rows import NOW, a_job, stored

ACME = Caller(tenant="acme", name="key …abcd")


def numbered(number: int, **changes: Any) -> Job:
    """A job that was made as many seconds after the first."""
    made = NOW + timedelta(seconds=number)
    job_id = new_job_id(made, number.to_bytes(10, "big"))
    return a_job(id=job_id, root=job_id, created_at=made, **changes)


def add(store: MemoryStore, *jobs: Job) -> None:
    store.rows |= {job.key: row_of(job) for job in jobs}


def pages(store: MemoryStore, listing: Listing, caller: Caller = ACME) -> Iterator[list[str]]:
    """The ids of every page, until none is named."""
    last = listing.before
    while True:
        listed = list_jobs(store, caller, replace(listing, before=last), NOW)
        yield [job.id for job in listed.jobs]
        if listed.last is None:
            return
        last = listed.last


def ids(jobs: list[Job]) -> list[str]:
    return sorted((job.id for job in jobs), reverse=True)


@given(number=st.integers(0, 60), limit=st.integers(1, 25), added=st.lists(st.integers(0, 3), max_size=30))
def test_pages_are_newest_first_and_neither_lose_nor_repeat_a_job_while_others_are_added(
    number: int, limit: int, added: list[int]
) -> None:
    jobs = [numbered(position) for position in range(number)]
    store = stored(*jobs)
    newer = iter(range(1000, 2000))
    found: list[str] = []
    for page, more in zip(pages(store, Listing(limit=limit)), [*added, *[1] * 100], strict=False):
        assert len(page) <= limit
        found += page
        add(store, *(numbered(next(newer)) for _ in range(more)))
    assert found == ids(jobs)


@given(states=st.lists(st.sampled_from(State), max_size=80), limit=st.integers(1, 10))
def test_a_filter_finds_every_job_that_it_admits_and_no_other(states: list[State], limit: int) -> None:
    jobs = [numbered(position, state=state) for position, state in enumerate(states)]
    wanted = frozenset({State.QUEUED, State.FAILED})
    listing = Listing(limit=limit, states=wanted)
    found = [job_id for page in pages(stored(*jobs), listing) for job_id in page]
    assert found == ids([job for job in jobs if job.state in wanted])


def test_a_list_ends_without_an_empty_page_behind_it() -> None:
    store = stored(*(numbered(position) for position in range(6)))
    assert [len(page) for page in pages(store, Listing(limit=3))] == [3, 3]
    assert [len(page) for page in pages(store, Listing(limit=3, kinds=frozenset({"probe"})))] == [3, 3]
    assert [len(page) for page in pages(MemoryStore(), Listing())] == [0]


def test_another_tenants_jobs_are_never_listed() -> None:
    store = stored(*(numbered(position, tenant="globex" if position % 2 else "acme") for position in range(10)))
    acme, globex = ([*pages(store, Listing(), Caller(tenant=name, name=""))] for name in ("acme", "globex"))
    assert [len(page) for page in (*acme, *globex)] == [5, 5]
    assert not set(acme[0]) & set(globex[0])
    assert [*pages(store, Listing(), Caller(tenant="acm", name=""))] == [[]]


@dataclass(kw_only=True)
class Lagging(MemoryStore):
    """An index that still shows what is gone, and counts what is asked of the tables."""

    shown: tuple[str, ...] = ()
    asked: list[int] = field(default_factory=list)

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        page = super().listed(tenant, most, before)
        ghosts = [job_id for job_id in self.shown if before is None or job_id < before]
        every = sorted({*page.ids, *ghosts}, reverse=True)
        return ListPage(ids=tuple(every[:most]), more=page.more or len(every) > most)

    def get_many(self, keys: Any) -> dict[Key, Row]:
        self.asked.append(len(keys))
        return super().get_many(keys)


def test_what_the_index_shows_but_is_gone_or_somebody_elses_is_skipped_and_holds_nothing_up() -> None:
    jobs = [numbered(position) for position in range(6)]
    store = Lagging(rows=stored(*jobs).rows, shown=(jobs[1].id, jobs[4].id))
    del store.rows[jobs[1].key]
    store.rows[jobs[4].key]["tenant"] = "globex"
    found = [*pages(store, Listing(limit=2))]
    assert [job_id for page in found for job_id in page] == ids([jobs[0], jobs[2], jobs[3], jobs[5]])
    assert all(len(page) <= 2 for page in found)


def test_a_row_past_its_time_is_gone_although_the_table_still_has_it() -> None:
    expired = replace(numbered(1), ttl=round(NOW.timestamp()))
    assert [*pages(stored(numbered(0), expired), Listing())] == [[numbered(0).id]]


def test_a_row_that_cannot_be_read_is_left_out_and_told() -> None:
    store = stored(numbered(0), numbered(1))
    store.rows[numbered(1).key]["state"] = "of a later version"
    told: list[str] = []
    listed = list_jobs(store, ACME, Listing(), NOW, lambda job_id, _: told.append(job_id))
    assert ([job.id for job in listed.jobs], told) == ([numbered(0).id], [numbered(1).id])


def test_a_rare_filter_reads_a_bounded_number_of_rows_and_names_where_to_go_on() -> None:
    number = MOST_CANDIDATES * MOST_PAGES + 50
    store = Lagging(rows=stored(*(numbered(position) for position in range(number))).rows)
    store.rows[numbered(0).key]["state"] = "failed"
    listing = Listing(states=frozenset({State.FAILED}))
    first = list_jobs(store, ACME, listing, NOW)
    assert (first.jobs, store.asked) == ((), [MOST_CANDIDATES] * MOST_PAGES)
    assert first.last == numbered(50).id
    second = list_jobs(store, ACME, replace(listing, before=first.last), NOW)
    assert ([job.id for job in second.jobs], second.last) == ([numbered(0).id], None)


def test_without_a_filter_hardly_more_is_read_than_shown() -> None:
    store = Lagging(rows=stored(*(numbered(position) for position in range(90))).rows)
    list_jobs(store, ACME, Listing(limit=20), NOW)
    assert store.asked == [21]


LABELLED = {"team": "tax, north", "run": "a:b"}


@pytest.mark.parametrize(
    ("query", "admitted"),
    [
        ({}, True),
        ({"state": "queued"}, True),
        ({"state": "failed,queued"}, True),
        ({"state": "failed"}, False),
        ({"kind": "probe"}, True),
        ({"kind": "gst-export,probe"}, True),
        ({"kind": "gst-export"}, False),
        ({"label": "team:tax, north"}, True),
        ({"label": "run:a:b"}, True),
        ({"label": "team:tax, north,run:a:b"}, True),
        ({"label": "run:a:b,team:other"}, False),
        ({"label": "other:tax"}, False),
        ({"label": "team:tax, north", "state": "running"}, False),
    ],
)
def test_filters_are_read_from_the_query(query: dict[str, str], *, admitted: bool) -> None:
    assert listing_of(query).admits(numbered(0, labels=LABELLED)) is admitted


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"state": "done"}, "state"),
        ({"state": ""}, "state"),
        ({"state": "queued,"}, "state"),
        ({"kind": "Probe!"}, "kind"),
        ({"kind": ""}, "kind"),
        ({"label": "team"}, "label"),
        ({"label": ":tax"}, "label"),
        ({"label": "team:"}, "label"),
        ({"label": "Team:tax"}, "label"),
        ({"label": "team:\x00"}, "label"),
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "1.5"}, "limit"),
        ({"limit": "٣"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"limit": "5,6"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "j_01kdq0000000000000000000ab"}, "cursor"),
        ({"cursor": cursor("j_01kdq0000000000000000000ab") + "="}, "cursor"),
        ({"cursor": cursor("j_01KDQ0000000000000000000AB")}, "cursor"),
        ({"cursor": cursor("load")}, "cursor"),
        ({"cursor": "ÿ"}, "cursor"),
        ({"cursor": base64.urlsafe_b64encode(b"\xff" * 28).decode()}, "cursor"),
        ({"page": "2"}, "page"),
    ],
)
def test_a_bad_parameter_is_refused_by_its_name(query: dict[str, str], name: str) -> None:
    with pytest.raises(BadRequest) as refused:
        listing_of({"limit": "5"} | query)
    assert [fault.pointer for fault in refused.value.faults] == [f"?{name}"]
    assert refused.value.detail.startswith(name)


@given(st.text(max_size=60) | st.binary(max_size=40).map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_whatever_a_cursor_says_it_is_a_place_or_refused(text: str) -> None:
    try:
        before = listing_of({"cursor": text}).before
    except BadRequest:
        return
    assert before is not None
    assert is_job_id(before)


def test_the_next_page_is_named_with_everything_that_was_asked_for() -> None:
    query = {
        "state": "queued,running",
        "label": "team:tax & co, ünder:x",
        "limit": "7",
        "cursor": cursor(job_key("x").id),
    }
    link = next_link(query, numbered(3).id)
    address, _, relation = link.partition(">; ")
    path, _, text = address.partition("?")
    assert (path, relation) == ("</v1/jobs", 'rel="next"')
    assert dict(parse_qsl(text)) == query | {"cursor": cursor(numbered(3).id)}
    assert link.isascii()
