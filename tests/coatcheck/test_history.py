"""A job's history as it is answered: in order, from its beginning to its end."""

from typing import Any

import pytest

from coatcheck.entry import Act, moved, note, write_down
from coatcheck.history import MOST_ENTRIES, history
from coatcheck.job import Error, Job, Reason, State
from coatcheck.memory import MemoryStore
from tests.coatcheck.rows import NOW, a_job, an_owned_job, seconds

FAULT = Error(type="Timeout", message="no answer")


def shown(store: MemoryStore, job: Job) -> list[dict[str, Any]]:
    items: Any = history(store, job)["items"]
    return list(items)


def run(store: MemoryStore, attempts: int) -> None:
    """Attempts that each fail and come back."""
    for attempt in range(1, attempts + 1):
        running = an_owned_job(attempt=attempt, failures=attempt - 1)
        failed = a_job(state=State.RETRYING, attempt=attempt + 1, failures=attempt, error=FAULT, retry_at=NOW)
        queued = a_job(attempt=attempt + 1, failures=attempt, error=FAULT)
        for old, new in ((None, running), (running, failed), (failed, queued)):
            write_down(store, new.id, moved(old, new))


def test_a_job_that_was_just_accepted_has_its_beginning_and_who_asked() -> None:
    assert shown(MemoryStore(), a_job()) == [
        {"at": "2026-11-10T12:00:00.000Z", "state": "queued", "attempt": 1, "failures": 0, "by": "key …abcd"}
    ]


def test_what_followed_stands_in_order_with_what_it_brought() -> None:
    store = MemoryStore()
    run(store, 1)
    assert [(each["state"], each["attempt"], each["failures"]) for each in shown(store, an_owned_job())] == [
        ("queued", 1, 0),
        ("running", 1, 0),
        ("retrying", 2, 1),
        ("queued", 2, 1),
    ]
    failed, again = shown(store, an_owned_job())[2:]
    assert failed["error"] == {"type": "Timeout", "message": "no answer", "retryable": True}
    assert (failed["retry_at"], again["cause"]) == ("2026-11-10T12:00:00.000Z", "retry_due")
    assert {"error", "retry_at", "by", "ttl"}.isdisjoint(again)


@pytest.mark.parametrize(
    ("final", "more"),
    [
        ({"state": State.SUCCEEDED, "cancelled_by": "too late"}, {}),
        ({"state": State.FAILED, "error": FAULT}, {"error": {"type": "Timeout"}}),
        ({"state": State.CANCELLED, "cancelled_by": "key …wxyz"}, {"by": "key …wxyz"}),
        ({"state": State.CANCELLED, "cancelled_by": "key …wxyz", "error": FAULT}, {"by": "key …wxyz"}),
        (
            {"state": State.CANCELLED, "error": Error(type="cancelled", message="nothing to do")},
            {"error": {"type": "cancelled"}},
        ),
    ],
)
def test_an_end_is_the_rows_own_and_is_shown_as_soon_as_the_row_has_it(
    final: dict[str, Any], more: dict[str, Any]
) -> None:
    end = shown(MemoryStore(), a_job(attempt=2, finished_at=NOW + seconds(5), **final))[-1]
    assert (end["at"], end["state"], end["attempt"]) == ("2026-11-10T12:00:05.000Z", final["state"], 2)
    error = {"type": end["error"]["type"]} if "error" in end else None
    assert ({"by": end["by"]} if "by" in end else {}) | ({"error": error} if error else {}) == more


def test_what_operators_did_to_a_job_that_had_ended_stands_behind_its_end() -> None:
    job = a_job(
        state=State.FAILED, attempt=1, error=Error(type=Reason.ATTEMPTS_EXHAUSTED, message="why"), finished_at=NOW
    )
    store = MemoryStore()
    store.write(note(job, Act.PURGED, "operator", NOW + seconds(60)))
    store.write(note(job, Act.REDRIVEN, "key …wxyz", NOW + seconds(90), "j_new"))
    assert [(each["state"], each.get("act"), each.get("by"), each.get("detail")) for each in shown(store, job)] == [
        ("queued", None, "key …abcd", None),
        ("failed", None, None, None),
        ("failed", "purged", "operator", None),
        ("failed", "redriven", "key …wxyz", "j_new"),
    ]


def test_a_history_without_end_shows_its_beginning_and_what_is_newest_and_says_so() -> None:
    store = MemoryStore()
    run(store, MOST_ENTRIES // 3 + 1)
    answer = history(store, a_job())
    items: Any = answer["items"]
    assert (len(items), answer["left_out"]) == (1 + MOST_ENTRIES, True)
    assert items[0]["by"] == "key …abcd"
    assert items[-1]["attempt"] == MOST_ENTRIES // 3 + 2
    short = MemoryStore()
    run(short, 2)
    assert "left_out" not in history(short, a_job())
