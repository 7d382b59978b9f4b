"""Submits: a request becomes one job, however often it comes."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.caller import Caller
from coatcheck.idempotency import args_of, caller_key, caller_key_write
from coatcheck.job import State, args_key, row_of
from coatcheck.memory import MemoryStore
from coatcheck.problem import BadRequest, Busy, KeyUsed
from coatcheck.request import Request
from coatcheck.store import TransactionRefused, Unavailable
from coatcheck.strict_json import parsed
from coatcheck.submission import Accepted, submit
from coatcheck.write import Put, Write
from tests.coatcheck.faults import FailingStore, RepeatingStore
from tests.coatcheck.rows import NOW, TIMINGS, a_job, seconds
from tests.coatcheck.submits import ACME, TERMS, asked, at_once, jobs_in, keys_in, move

WEEK = timedelta(days=7)


def test_a_request_becomes_a_queued_job_with_work_left_for_a_ring_in_one_call() -> None:
    counting = FailingStore(under=(store := MemoryStore()))
    accepted = asked(counting, {"steps": 3}, key="k1", lane="bulk")
    (job,) = jobs_in(store)
    assert (accepted.job, accepted.replayed) == (job, False)
    assert (job.state, job.attempt, job.lane, job.tenant, job.args) == (State.QUEUED, 1, "bulk", "acme", '{"steps":3}')
    assert (job.created_at, job.due, job.root, job.requested_by) == (NOW, NOW + TIMINGS.due_grace, job.id, ACME.name)
    assert job.max_failures == 5
    assert counting.calls == ["transact"]


@pytest.mark.parametrize("state", list(State))
def test_the_same_key_and_request_is_the_same_job_whatever_became_of_it(state: State) -> None:
    store = MemoryStore()
    first = asked(store, {"steps": 3}, key="k1")
    move(store, first.job, state)
    again = asked(store, {"steps": 3}, key="k1", now=NOW + seconds(31))
    assert (again.job.id, again.job.state, again.replayed) == (first.job.id, state, True)
    assert len(jobs_in(store)) == 1


@pytest.mark.parametrize(
    "again",
    [
        b'{"args":{"fail_times":1,"steps":3,"fail_with":"crash"},"kind":"probe"}',
        b' { "kind" :"probe",\n"args": {"steps": 3, "fail_times":1,"fail_with":"crash"} } ',
        b'{"kind":"probe","args":{"steps":3.0,"fail_times":1e0,"fail_with":"crash"}}',
        b'{"k\\u0069nd":"probe","args":{"steps":3,"fail_times":1,"fail_with":"\\u0063rash"}}',
    ],
    ids=["order", "white space", "numbers", "escapes"],
)
def test_the_order_of_names_and_the_form_of_numbers_do_not_make_another_request(again: bytes) -> None:
    def sent(body: bytes) -> Accepted:
        fields: Any = parsed(body)
        return submit(store, TERMS, ACME, Request(fields=fields, key="k1"), NOW)

    store = MemoryStore()
    first = sent(b'{"kind":"probe","args":{"steps":3,"fail_times":1,"fail_with":"crash"}}')
    repeated = sent(again)
    assert (repeated.job.id, repeated.replayed) == (first.job.id, True)
    assert len(jobs_in(store)) == 1


def test_the_order_of_an_array_is_part_of_the_request() -> None:
    first = Request(fields={"kind": "probe", "args": {"steps": [1, 2]}}, key="k")
    assert first.hash != Request(fields={"kind": "probe", "args": {"steps": [2, 1]}}, key="k").hash


@pytest.mark.parametrize(
    "other", [{"args": {"steps": 4}}, {"args": {}}, {"args": {"steps": 3}, "lane": "bulk"}, {"args": None}]
)
def test_a_key_that_belongs_to_another_request_is_refused_and_nothing_is_made(other: dict[str, Any]) -> None:
    store = MemoryStore()
    asked(store, {"steps": 3}, key="k1")
    before = dict(store.rows)
    with pytest.raises(KeyUsed):
        asked(store, other.pop("args"), key="k1", **other)
    assert store.rows == before


def test_keys_belong_to_their_tenant() -> None:
    store = MemoryStore()
    first = asked(store, {"steps": 3}, key="k1")
    other = asked(store, {"steps": 4}, key="k1", caller=Caller(tenant="globex", name="key …wxyz"))
    assert (other.replayed, other.job.tenant) == (False, "globex")
    assert other.job.id != first.job.id


def test_a_key_cannot_be_written_so_that_it_looks_like_another_tenants() -> None:
    fields = {"kind": "probe"}
    one = caller_key("a", Request(fields=fields, key="b#c"))
    other = caller_key("a#b", Request(fields=fields, key="c"))
    assert one != other
    longest = caller_key("t" * 64, Request(fields=fields, key="k" * 255))
    assert longest is not None
    assert len(longest.id) < 2048


def test_requests_without_a_key_share_nothing() -> None:
    store = MemoryStore()
    ids = {asked(store).job.id for _ in range(3)}
    assert len(ids) == len(jobs_in(store)) == 3
    assert keys_in(store) == {}


def test_a_key_lives_for_a_week_and_an_expired_one_that_is_still_there_counts_as_absent() -> None:
    store = MemoryStore()
    first = asked(store, {"steps": 3}, key="k1")
    assert asked(store, {"steps": 3}, key="k1", now=NOW + WEEK - seconds(1)).replayed
    fresh = asked(store, {"steps": 4}, key="k1", now=NOW + WEEK)
    assert (fresh.replayed, fresh.job.id != first.job.id) == (False, True)
    assert asked(store, {"steps": 4}, key="k1", now=NOW + WEEK + seconds(1)).job.id == fresh.job.id


@pytest.mark.parametrize("round_", range(5))
def test_twenty_equal_requests_at_once_are_one_job_and_all_are_told_of_it(round_: int) -> None:
    store = MemoryStore()
    accepted = at_once(20, lambda _: asked(store, {"steps": round_ + 1}, key="k1"))
    assert {each.job.id for each in accepted} == {job.id for job in jobs_in(store)}
    assert len(jobs_in(store)) == 1
    assert [each.replayed for each in accepted].count(False) == 1


def test_a_submit_whose_answer_was_lost_knows_its_own_echo() -> None:
    store = MemoryStore()
    for key in (None, "k1"):
        accepted = asked(RepeatingStore(under=store), key=key)
        assert not accepted.replayed
        assert accepted.job in jobs_in(store)
    assert len(jobs_in(store)) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_client_that_repeats_a_submit_without_an_answer_gets_the_one_job(when: str) -> None:
    store = MemoryStore()
    failing = FailingStore(under=store, before=int(when == "before"), after=int(when == "after"))
    with pytest.raises(Unavailable):
        asked(failing, key="k1")
    accepted = asked(failing, key="k1", now=NOW + seconds(1))
    assert jobs_in(store) == [accepted.job]
    assert accepted.replayed is (when == "after")


@pytest.mark.parametrize(
    "request_",
    [{"kind": "probe", "args": {"steps": "many"}}, {"kind": "of-another-version"}, {"kind": "probe", "priority": 1}],
)
def test_a_request_that_was_accepted_before_is_replayed_although_it_would_be_refused_today(
    request_: dict[str, object],
) -> None:
    store, job = MemoryStore(), a_job()
    request = Request(fields=request_, key="k1")
    key = caller_key("acme", request)
    assert key is not None
    store.write(Put(key=job.key, row=row_of(job)))
    store.write(caller_key_write(key, job, request, NOW, TIMINGS))
    accepted = submit(store, TERMS, ACME, request, NOW)
    assert (accepted.job, accepted.replayed) == (job, True)


def test_an_expired_key_replays_nothing_although_it_is_still_there() -> None:
    store = MemoryStore()
    asked(store, {"steps": 3}, key="k1")
    with pytest.raises(BadRequest):
        asked(store, {"steps": "many"}, key="k1", now=NOW + WEEK)


def test_a_refused_request_leaves_nothing_behind() -> None:
    store = MemoryStore()
    with pytest.raises(BadRequest):
        asked(store, {"steps": "many"}, key="k1")
    assert store.rows == {}
    assert not asked(store, {"steps": 3}, key="k1").replayed


@pytest.mark.usefixtures("kinds")
def test_large_args_lie_beside_the_row_and_are_found_there() -> None:
    store = MemoryStore()
    small = asked(store, {"text": "x"}, kind="script").job
    large = asked(store, {"text": "x" * 600}, kind="script").job
    assert args_key(small.id) not in store.rows
    assert "args" not in store.rows[large.key]
    (found,) = [job for job in jobs_in(store) if job.id == large.id]
    assert found.args is None
    assert args_of(store, found) == large.args
    assert store.rows[args_key(large.id)]["ttl"] == found.ttl


def test_a_key_whose_holder_never_settles_is_given_up_with_a_hint() -> None:
    class Flickering(MemoryStore):
        def transact(self, writes: Sequence[Write]) -> None:
            raise TransactionRefused({len(writes) - 1: None})

    with pytest.raises(Busy) as busy:
        asked(Flickering(), key="k1")
    assert busy.value.headers == {"Retry-After": "1"}


def test_open_jobs_live_as_long_as_they_may_and_keys_no_longer_than_their_jobs() -> None:
    store = MemoryStore()
    job = asked(store, key="k1").job
    (key,) = keys_in(store).values()
    assert job.ttl == round((NOW + TIMINGS.give_up_after + TIMINGS.keep_row).timestamp())
    assert isinstance(ttl := key["ttl"], int)
    assert ttl == round((NOW + WEEK).timestamp())
    assert ttl < job.ttl
    assert TERMS.timings is TIMINGS
