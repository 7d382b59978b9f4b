"""The supervisor's schedule: whatever is due is rung, whatever is broken."""

import json
from datetime import timedelta
from typing import Any

import pytest

from coatcheck.job import State
from coatcheck.load import LOAD_KEY, noted_load
from coatcheck.run.load_metrics import LANE, NAMESPACE, SERVICE, Measure
from coatcheck.store import RowPage, Unavailable
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
    assert answer["steps"] == {"Send": 1, "TakeOver": 1}
    assert [lost in message["Body"] for message in aws.received("interactive")] == [True]
    assert (job_in_table(dead).state, job_in_table(dead).failures) == (State.QUEUED, 1)
    assert supervisor.handler(ONCE, LambdaContext(120))["steps"] == {}


def test_a_row_that_cannot_be_read_is_logged_by_its_id_and_keeps_nobody_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, lost = overdue(), overdue()
    spoil(broken)
    assert supervisor.handler(ONCE, LambdaContext(120))["steps"] == {"Send": 1, "Broken": 1}
    assert job_in_table(lost).sent == 1
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert vars(error)["job_id"] == broken
    assert "of a later version" in str(error.exc_info)


def test_a_schedules_event_walks_until_its_time_is_over() -> None:
    assert supervisor.handler({"source": "aws.scheduler"}, LambdaContext(5.0)) == {"steps": {}}


def test_every_walk_notes_how_many_jobs_are_open_and_polls_are_paced_by_it() -> None:
    supervisor.handler(ONCE, LambdaContext(120))
    before = noted_load(ports.jobs()).open_jobs
    for _ in range(3):
        add_job()
    add_job(state=State.SUCCEEDED, freed=True, due=None)
    supervisor.handler(ONCE, LambdaContext(120))
    assert noted_load(ports.jobs()).open_jobs == before + 3


def test_polls_are_paced_by_what_was_counted_last() -> None:
    job_id = add_job().id
    ports.jobs().write(put(LOAD_KEY, {"open_jobs": 12_000}))
    ports.known_load.cache_clear()
    ports.known_pace.cache_clear()
    event = http_event("GET /v1/jobs/{id}", path={"id": job_id})
    answer: dict[str, Any] = status.handler(event, LambdaContext())
    assert answer["headers"]["Retry-After"] == "12"


def test_a_count_that_fails_spoils_no_walk(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_answer(shard: str, start: str | None = None) -> RowPage:
        raise Unavailable("ThrottlingException")

    lost = overdue()
    monkeypatch.setattr(ports.jobs(), "all_due", no_answer)
    assert set(supervisor.handler(ONCE, LambdaContext(120))) == {"steps"}
    assert job_in_table(lost).sent == 1
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert vars(warning)["code"] == "ThrottlingException"
    assert [set(each) & set(Measure) for each in emitted(capsys)] == [{Measure.ROUNDS}]


def emitted(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The metrics that were written as log lines since the last look."""
    lines = [line for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    return [json.loads(line) for line in lines]


def test_every_round_tells_the_load_of_each_lane_and_no_id_of_a_job_or_tenant(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "coatcheck-test")
    for minutes in (10, 30):
        add_job(lane="bulk", ready_at=now() - timedelta(minutes=minutes))
    answer: dict[str, Any] = supervisor.handler(ONCE, LambdaContext(120))
    whole, *lanes = emitted(capsys)
    assert (whole[Measure.ROUNDS], whole[Measure.OPEN_JOBS]) == ([1], [answer["open_jobs"]])
    assert [each[LANE] for each in lanes] == ["bulk", "interactive"]
    bulk = lanes[0]
    assert bulk[Measure.BACKLOG] == [answer["waiting"]["bulk"]["backlog"]]
    assert 1800 <= bulk[Measure.OLDEST_WAIT][0] < 1900
    for each in (whole, *lanes):
        (directive,) = each["_aws"]["CloudWatchMetrics"]
        assert directive["Namespace"] == NAMESPACE
        assert {*directive["Dimensions"][0]} == ({SERVICE, LANE} if LANE in each else {SERVICE})
        assert each[SERVICE] == "coatcheck-test"
        assert set(each) - {"_aws"} - set(Measure) <= {SERVICE, LANE}
