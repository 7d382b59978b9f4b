"""Admission within a submit: what is refused leaves nothing, and what was accepted once is never refused."""

from dataclasses import replace
from datetime import datetime

import pytest

from coatcheck.job import Job, State, row_of
from coatcheck.memory import MemoryStore
from coatcheck.problem import BadRequest, Conflict, KeyUsed, TooMany
from coatcheck.redrive import redrive
from coatcheck.row import Row
from coatcheck.write import Put
from tests.coatcheck.rows import NOW, TIMINGS, a_job
from tests.coatcheck.submits import TERMS, asked, jobs_in, numbered


def refuse(job: Job, now: datetime) -> None:  # whatever it is
    raise TooMany("not now")


FULL = replace(TERMS, admit=refuse)


def test_what_is_refused_leaves_nothing_and_its_key_is_free() -> None:
    store = MemoryStore()
    with pytest.raises(TooMany):
        asked(store, key="k1", terms=FULL)
    assert store.rows == {}
    assert not asked(store, key="k1").replayed


@pytest.mark.parametrize("state", list(State))
def test_what_was_accepted_once_is_never_refused(state: State) -> None:
    store = MemoryStore()
    first = asked(store, key="k1")
    store.rows[first.job.key]["state"] = state.value
    again = asked(store, key="k1", terms=FULL)
    assert (again.job.id, again.replayed) == (first.job.id, True)


def test_a_used_key_is_the_better_reason() -> None:
    store = MemoryStore()
    asked(store, {"steps": 1}, key="k1")
    with pytest.raises(KeyUsed):
        asked(store, {"steps": 2}, key="k1", terms=FULL)


def test_nobody_asks_for_admission_with_a_request_that_is_wrong() -> None:
    let_in: list[str] = []
    terms = replace(TERMS, admit=lambda job, _: let_in.append(job.id))
    with pytest.raises(BadRequest):
        asked(MemoryStore(), {"steps": "many"}, terms=terms)
    assert let_in == []
    accepted = asked(MemoryStore(), terms=terms)
    assert let_in == [accepted.job.id]


def failed_job(store: MemoryStore) -> Job:
    old = a_job(state=State.FAILED, finished_at=NOW)
    store.write(Put(key=old.key, row=row_of(old)))
    return old


def rows_of(store: MemoryStore) -> list[Row]:
    return list(store.rows.values())


def test_a_job_that_was_tried_again_is_told_although_nobody_is_let_in_now() -> None:
    store = MemoryStore()
    old = failed_job(store)
    with pytest.raises(TooMany):
        redrive(store, old, "key …wxyz", TIMINGS, numbered, NOW, refuse)
    assert rows_of(store) == [row_of(old)]
    new = redrive(store, old, "key …wxyz", TIMINGS, numbered, NOW)
    (seen,) = [job for job in jobs_in(store) if job.id == old.id]
    assert redrive(store, seen, "key …wxyz", TIMINGS, numbered, NOW, refuse) == new
    assert redrive(store, old, "key …wxyz", TIMINGS, numbered, NOW, lambda *_: None) == new  # and by one that is late


def test_who_cannot_be_tried_again_needs_no_admission() -> None:
    store = MemoryStore()
    running = a_job(state=State.RUNNING)
    with pytest.raises(Conflict):
        redrive(store, running, "key …wxyz", TIMINGS, numbered, NOW, refuse)
