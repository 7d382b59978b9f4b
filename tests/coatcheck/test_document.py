"""The status document: what a client sees of a job."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from coatcheck.document import etag, has_result, result_expires_at, retry_after, status_document
from coatcheck.job import Error, Job, Progress, State, StoredResult
from coatcheck.text import rfc3339
from tests.coatcheck.rows import JOB_ID, NOW, TIMINGS, a_job, an_owned_job, seconds

RESULT = StoredResult(key="results/acme/j/r.csv.gz", version="v1", bytes=12, content_type="application/gzip", rows=3)


def signed(job_id: str, until: datetime) -> str:
    return f"{job_id}.{until:%Y-%m-%d}"


def document(job: Job) -> dict[str, Any]:
    shown = status_document(job, NOW, TIMINGS, signed)
    assert json.loads(json.dumps(shown)) == shown
    return shown


def test_a_new_job_says_what_it_is_and_that_it_waits_for_a_worker() -> None:
    assert document(a_job()) == {
        "id": JOB_ID,
        "kind": "probe",
        "state": "queued",
        "reason": "waiting_for_worker",
        "lane": "interactive",
        "attempt": 1,
        "failures": 0,
        "max_failures": 5,
        "progress": {"done": 0},
        "created_at": "2026-11-10T12:00:00.000Z",
        "requested_by": "key …abcd",
        "updated_at": "2026-11-10T12:00:00.000Z",
        "expires_at": "2027-01-09T12:00:00.000Z",
        "links": {"self": f"/v1/jobs/{JOB_ID}", "cancel": f"/v1/jobs/{JOB_ID}"},
    }


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (a_job(run_at=NOW + seconds(1)), "scheduled"),
        (a_job(run_at=NOW), "waiting_for_worker"),
        (a_job(waiting="pause#kind#probe", waits_since=NOW, paused_by="operator-1"), "paused"),
        (a_job(state=State.RETRYING, retry_at=NOW + seconds(1)), "backing_off"),
        (an_owned_job(), None),
        (a_job(state=State.SUCCEEDED), None),
    ],
)
def test_the_reason_answers_why_a_job_is_not_running(job: Job, reason: str | None) -> None:
    assert document(job).get("reason") == reason


def test_progress_shows_what_is_known_and_percent_only_of_a_total() -> None:
    running = an_owned_job(progress=Progress(done=50, total=200, stage="exporting"))
    assert document(running)["progress"] == {"done": 50, "total": 200, "percent": 25, "stage": "exporting"}
    assert document(an_owned_job(progress=Progress(done=0, total=0)))["progress"] == {"done": 0, "total": 0}


def test_an_error_says_whether_the_same_request_could_succeed_another_time() -> None:
    failed = a_job(state=State.FAILED, error=Error(type="UnknownSeller", message="no such seller", retryable=False))
    assert document(failed)["error"] == {"type": "UnknownSeller", "message": "no such seller", "retryable": False}


def test_a_result_is_shown_with_its_address_and_how_long_it_can_be_had() -> None:
    done = a_job(state=State.SUCCEEDED, result=RESULT, finished_at=NOW)
    assert document(done)["result"] == {
        "rows": 3,
        "url": f"/v1/results/{JOB_ID}.2026-11-11",
        "bytes": 12,
        "content_type": "application/gzip",
        "expires_at": "2026-11-17T12:00:00.000Z",
    }
    assert document(done)["links"] == {"self": f"/v1/jobs/{JOB_ID}", "result": f"/v1/jobs/{JOB_ID}/result"}
    assert result_expires_at(done, TIMINGS) == NOW + timedelta(days=7)


def test_a_link_is_not_signed_for_longer_than_the_result_is_kept() -> None:
    last_day = a_job(state=State.SUCCEEDED, result=RESULT, finished_at=NOW - timedelta(days=6, hours=18))
    assert document(last_day)["result"]["url"].endswith(".2026-11-10")
    gone = a_job(state=State.SUCCEEDED, result=RESULT, finished_at=NOW - timedelta(days=7))
    assert "url" not in document(gone)["result"]


def test_a_new_link_to_the_same_result_is_no_news() -> None:
    done = a_job(state=State.SUCCEEDED, result=RESULT, finished_at=NOW)
    now, later = (status_document(done, NOW + timedelta(days=days), TIMINGS, signed) for days in (0, 1))
    assert now != later
    assert etag(now) == etag(later)
    other = a_job(state=State.SUCCEEDED, result=StoredResult(key=RESULT.key, rows=4), finished_at=NOW)
    assert etag(now) != etag(document(other))


@pytest.mark.parametrize("state", [state for state in State if state is not State.SUCCEEDED])
def test_a_result_is_not_shown_before_the_final_state_is_written(state: State) -> None:
    early = a_job(state=state, result=RESULT)
    assert "result" not in document(early)
    assert "result" not in document(early)["links"]
    assert not has_result(early)


def test_rows_without_a_file_are_a_result_without_an_address() -> None:
    done = a_job(state=State.SUCCEEDED, result=StoredResult(rows=0))
    assert document(done)["result"] == {"rows": 0}
    assert not has_result(done)


def test_nothing_of_the_platforms_own_bookkeeping_is_shown() -> None:
    shown = json.dumps(document(an_owned_job(cursor='{"secret":1}', args='{"seller":"48812"}')))
    for inner in ("owner-1", "secret", "48812", "lease", "cursor", "request_hash", "due"):
        assert inner not in shown


@pytest.mark.parametrize("state", list(State))
def test_a_client_is_told_when_to_ask_again_until_there_is_nothing_more_to_come(state: State) -> None:
    wait = retry_after(a_job(state=state))
    assert wait is None if state.final else isinstance(wait, int)
    assert wait is None or 2 <= wait <= 30


def test_times_are_rfc3339_in_utc_with_milliseconds() -> None:
    assert rfc3339(NOW + timedelta(microseconds=999)) == "2026-11-10T12:00:00.000Z"
    assert rfc3339(NOW.astimezone(NOW.tzinfo)) == rfc3339(NOW)


def test_zero_is_shown_as_zero_and_not_left_out_as_if_it_were_unknown() -> None:
    nothing = StoredResult(key=RESULT.key, bytes=0, content_type="text/csv", rows=0)
    done = a_job(state=State.SUCCEEDED, result=nothing, finished_at=NOW, progress=Progress(done=0, total=0))
    shown = document(done)
    assert (shown["result"]["bytes"], shown["result"]["rows"], shown["failures"]) == (0, 0, 0)
    assert shown["progress"] == {"done": 0, "total": 0}
