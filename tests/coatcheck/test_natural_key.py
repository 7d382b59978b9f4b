"""Natural keys: one open job for each value of the args that a kind names as unique."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from coatcheck.caller import Caller
from coatcheck.job import Job, State
from coatcheck.memory import MemoryStore
from coatcheck.problem import Conflict
from coatcheck.row import Row
from coatcheck.store import TransactionRefused
from coatcheck.submission import Accepted
from coatcheck.write import Key, Write
from tests.coatcheck.faults import RepeatingStore
from tests.coatcheck.rows import NOW
from tests.coatcheck.submits import asked, at_once, jobs_in, keys_in, move

pytestmark = pytest.mark.usefixtures("kinds")

SELLER = {"seller_id": "48812", "period": "2026-10"}
OPEN = [state for state in State if not state.final]
FINAL = [state for state in State if state.final]


def report(store: Any, args: Mapping[str, object] | None = None, **how: Any) -> Accepted:
    return asked(store, SELLER if args is None else args, kind="monthly-report", **how)


@pytest.mark.parametrize("state", OPEN)
def test_an_open_job_with_the_same_args_answers_for_every_request(state: State) -> None:
    store = MemoryStore()
    first = report(store)
    move(store, first.job, state)
    again = report(store)
    assert (again.job.id, again.replayed) == (first.job.id, False)
    assert len(jobs_in(store)) == 1


def test_the_key_of_a_request_that_joined_an_open_job_belongs_to_that_job_for_good() -> None:
    store = MemoryStore()
    first = report(store, key="k1")
    joined = report(store, key="k2")
    move(store, first.job, State.SUCCEEDED)
    again = report(store, key="k2")
    assert joined.job.id == again.job.id == first.job.id
    assert (joined.replayed, again.replayed) == (False, True)


@pytest.mark.parametrize("state", OPEN)
def test_an_open_job_with_other_args_is_named_in_the_refusal(state: State) -> None:
    store = MemoryStore()
    first = report(store)
    move(store, first.job, state)
    with pytest.raises(Conflict, match=first.job.id):
        report(store, SELLER | {"note": "for the auditor"}, key="k1")
    assert len(jobs_in(store)) == 1
    assert len(keys_in(store)) == 1


@pytest.mark.parametrize("state", FINAL)
@pytest.mark.parametrize("args", [SELLER, SELLER | {"note": "for the auditor"}])
def test_a_job_that_has_ended_gives_its_value_to_the_next(state: State, args: Mapping[str, object]) -> None:
    store = MemoryStore()
    first = report(store)
    move(store, first.job, state)
    second = report(store, args)
    third = report(store, args)
    assert second.job.id != first.job.id
    assert third.job.id == second.job.id


def test_a_value_whose_job_is_gone_is_free() -> None:
    store = MemoryStore()
    first = report(store)
    del store.rows[first.job.key]
    assert report(store).job.id != first.job.id


def test_an_expired_value_is_free_although_it_is_still_there() -> None:
    store = MemoryStore()
    first = report(store)
    (key,) = keys_in(store)
    store.rows[key]["ttl"] = round(NOW.timestamp())
    second = report(store)
    assert second.job.id != first.job.id


def test_a_value_outlives_the_longest_job() -> None:
    store = MemoryStore()
    job = report(store).job
    (row,) = keys_in(store).values()
    assert isinstance(row["ttl"], int)
    assert row["ttl"] > job.ttl


def test_values_belong_to_their_tenant_and_kind_and_are_told_apart() -> None:
    store = MemoryStore()
    report(store)
    report(store, caller=Caller(tenant="globex", name="key …wxyz"))
    report(store, SELLER | {"period": "2026-11"})
    report(store, {"seller_id": "4881", "period": "2026-10"})
    assert len(jobs_in(store)) == 4


def test_a_default_is_the_same_value_as_the_one_that_is_written_out() -> None:
    store = MemoryStore()
    first = report(store, {"seller_id": "48812"})
    assert report(store, SELLER).job.id == first.job.id


@pytest.mark.parametrize("keys", [False, True])
def test_twenty_requests_at_once_for_one_value_are_one_job(*, keys: bool) -> None:
    store = MemoryStore()
    accepted = at_once(20, lambda number: report(store, key=f"k{number}" if keys else None))
    assert {each.job.id for each in accepted} == {job.id for job in jobs_in(store)}
    assert len(jobs_in(store)) == 1
    assert len(keys_in(store)) == (21 if keys else 1)


def test_twenty_requests_at_once_for_a_value_whose_job_has_ended_are_one_new_job() -> None:
    store = MemoryStore()
    first = report(store)
    move(store, first.job, State.FAILED)
    accepted = at_once(20, lambda number: report(store, key=f"k{number}"))
    assert len({each.job.id for each in accepted}) == 1
    assert len(jobs_in(store)) == 2


def test_twenty_requests_at_once_with_different_args_for_one_value_are_one_job_and_nineteen_refusals() -> None:
    store = MemoryStore()
    results = at_once(20, lambda number: report(store, SELLER | {"note": f"for auditor {number}"}))
    assert sorted(type(each).__name__ for each in results) == ["Accepted"] + ["Conflict"] * 19
    assert len(jobs_in(store)) == 1


def test_a_submit_whose_answer_was_lost_knows_its_own_echo() -> None:
    store = MemoryStore()
    repeating = RepeatingStore(under=store)
    first = report(repeating, key="k1")
    joined = report(repeating, key="k2")
    assert [job.id for job in jobs_in(store)] == [first.job.id] == [joined.job.id]
    assert not first.replayed


def test_of_two_that_see_an_ended_job_only_one_takes_its_value_over() -> None:
    class Overtaken(MemoryStore):
        first: Job | None = None

        def get(self, key: Key) -> Row | None:
            seen = super().get(key)
            if self.first is not None and key == self.first.key:
                self.first = None
                report(self)
            return seen

    store = Overtaken()
    first = report(store).job
    move(store, first, State.SUCCEEDED)
    store.first = first
    late = report(store)
    assert len(jobs_in(store)) == 2
    assert late.job.id == next(job.id for job in jobs_in(store) if job.id != first.id)


def test_an_open_job_keeps_its_value_although_the_callers_key_changed_hands_meanwhile() -> None:
    class Flickering(MemoryStore):
        flickers = 1

        def transact(self, writes: Sequence[Write]) -> None:
            if len(writes) == 1 and self.flickers:
                self.flickers -= 1
                raise TransactionRefused({0: None})
            super().transact(writes)

    store = Flickering()
    first = report(store)
    joined = report(store, key="k1")
    assert joined.job.id == first.job.id
    assert len(jobs_in(store)) == 1
