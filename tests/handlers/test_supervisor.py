"""The supervisor's schedule: whatever is due is rung, whatever is broken."""

from datetime import timedelta
from typing import Any

import pytest

from coatcheck.job import State
from coatcheck.load import LOAD_KEY, noted_load
from coatcheck.store import Unavailable
from coatcheck.write import put
from handlers import ports, status, supervisor
from tests.coatcheck.cloud import Cloud
from tests.handlers.events import LambdaContext, http_event
from tests.handlers.jobs_table import add_job, job_in_table, now, spoil

pytestmark = pytest.mark.usefixtures("empty_queues")

ONCE = {"once": True}


def overdue(**changes: object) -> str:
    return add_job(**({"due": now() - timedelta(seconds=1)} | changes)).id


def test_one_walk_rings_what_is_due_and_says_what_it_did(aws: Cloud) -> None:
    lost = overdue()
    dead = overdue(state=State.RUNNING, owner="owner-1", lease_until=now() - timedelta(seconds=5))
    answer = supervisor.handler(ONCE, LambdaContext(120))
    assert answer == {"steps": {"Send": 1, "TakeOver": 1}}
    assert [lost in message["Body"] for message in aws.received("interactive")] == [True]
    assert (job_in_table(dead).state, job_in_table(dead).failures) == (State.QUEUED, 1)
    assert supervisor.handler(ONCE, LambdaContext(120)) == {"steps": {}}


def test_a_row_that_cannot_be_read_is_logged_by_its_id_and_keeps_nobody_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, lost = overdue(), overdue()
    spoil(broken)
    assert supervisor.handler(ONCE, LambdaContext(120)) == {"steps": {"Send": 1, "Broken": 1}}
    assert job_in_table(lost).sent == 1
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert vars(error)["job_id"] == broken
    assert "of a later version" in str(error.exc_info)


def test_a_schedules_event_walks_until_its_time_is_over() -> None:
    assert supervisor.handler({"source": "aws.scheduler"}, LambdaContext(5.0)) == {"steps": {}}


def test_every_walk_notes_how_many_jobs_are_open_and_polls_are_paced_by_it() -> None:
    supervisor.handler(ONCE, LambdaContext(120))
    before = noted_load(ports.jobs())
    for _ in range(3):
        add_job()
    add_job(state=State.SUCCEEDED, freed=True, due=None)
    supervisor.handler(ONCE, LambdaContext(120))
    assert noted_load(ports.jobs()) == before + 3


def test_polls_are_paced_by_what_was_counted_last() -> None:
    job_id = add_job().id
    ports.jobs().write(put(LOAD_KEY, {"open_jobs": 12_000}))
    ports.known_pace.cache_clear()
    event = http_event("GET /v1/jobs/{id}", path={"id": job_id})
    answer: dict[str, Any] = status.handler(event, LambdaContext())
    assert answer["headers"]["Retry-After"] == "12"


def test_a_count_that_fails_spoils_no_walk(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def no_answer(shard: str) -> int:
        raise Unavailable("ThrottlingException")

    lost = overdue()
    monkeypatch.setattr(ports.jobs(), "count_due", no_answer)
    supervisor.handler(ONCE, LambdaContext(120))
    assert job_in_table(lost).sent == 1
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert vars(warning)["code"] == "ThrottlingException"
