"""Ticks as EventBridge Scheduler fires them at the function: twice, at once, late, after an edit, after a kill."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from coatcheck.job import State
from coatcheck.problem import BadRequest, Gone
from coatcheck.store import Unavailable
from coatcheck.timetable import next_tick, timetable
from coatcheck.write import update
from handlers import cancel, operator, ports, supervisor, ticker
from tests.coatcheck.cloud import BUSY, Cloud, isolated, troubled
from tests.coatcheck.submits import at_once
from tests.handlers.chain import Chain, counting_calls
from tests.handlers.events import LambdaContext, http_event
from tests.handlers.jobs_table import job_in_table, now

pytestmark = pytest.mark.usefixtures("empty_queues")

BY = "arn:aws:iam::123456789012:user/example"
HOUR = timedelta(hours=1)
_numbers = count(1)


@pytest.fixture
def name(aws: Cloud) -> str:
    return f"nightly-{next(_numbers)}"


def tick(name: str, at: datetime, *, overlap: bool = True, **request: Any) -> dict[str, Any]:
    """The event, as the service writes the time into it: in whole seconds."""
    return {
        "schedule": name,
        "scheduled_time": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "tenant": "acme",
        "request": {"kind": "probe", "args": {}} | request,
        "overlap": overlap,
        "origin": "command",
    }


def fired(event: dict[str, Any]) -> dict[str, Any]:
    return dict(ticker.handler(event, LambdaContext(30)))


def jobs_of(aws: Cloud, name: str) -> list[str]:
    found = aws.dynamodb.scan(
        TableName="jobs",
        FilterExpression="labels.#schedule = :name",
        ExpressionAttributeNames={"#schedule": "schedule"},
        ExpressionAttributeValues={":name": {"S": name}},
        ConsistentRead=True,
    )
    return sorted(item["id"]["S"] for item in found["Items"])


def known(name: str) -> dict[str, Any]:
    """What the operators' function says of a schedule."""
    answer: Any = operator.handler({"act": "look_at_schedules", "schedules": [name], "by": BY}, LambdaContext())
    return dict(answer["schedules"][name])


def die(job_id: str, *, failures: int = 0) -> None:
    """Leave the row as a worker does that is killed: running, with a lease that is over."""
    dead = {"state": State.RUNNING, "owner": "gone", "lease_until": now() - HOUR, "failures": failures, "sent": 1}
    job = job_in_table(job_id)
    ports.jobs().write(update(job.key, (), {**dead, "claimed_at": now() - HOUR, "started_at": now() - HOUR, "due": 1}))


def walk() -> None:
    supervisor.handler({"once": True}, LambdaContext(120))


@pytest.mark.parametrize("late", [timedelta(0), timedelta(seconds=61), 3 * HOUR])
def test_a_tick_that_comes_twice_is_one_job_however_late(aws: Cloud, name: str, late: timedelta) -> None:
    at = now() - late
    first, second = fired(tick(name, at)), fired(tick(name, at))
    assert jobs_of(aws, name) == [first["job_id"]] == [second["job_id"]]
    assert (first["before"], second["before"]) == (False, True)
    assert known(name)["last_job"] == {"id": first["job_id"], "state": "queued"}


def test_twenty_firings_of_one_tick_at_once_are_one_job(aws: Cloud, name: str) -> None:
    event = tick(name, now())
    isolated(ports.jobs_and_keys()._client)
    answers = at_once(20, lambda _: fired(event))
    assert [answer["job_id"] for answer in answers] == jobs_of(aws, name) * 20


def test_a_tick_that_comes_again_after_its_schedule_was_edited_is_the_same_job(aws: Cloud, name: str) -> None:
    at = now()
    first = fired(tick(name, at))
    for edited in (tick(name, at, args={"steps": 2}), tick(name, at, kind="gone"), tick(name, at, overlap=False)):
        assert fired(edited)["job_id"] == first["job_id"]
    assert jobs_of(aws, name) == [first["job_id"]]


def test_a_scheduler_that_wakes_up_late_makes_the_job_of_its_own_tick_and_hides_no_newer_one(
    aws: Cloud, name: str
) -> None:
    newer = fired(tick(name, now()))
    older = fired(tick(name, now() - 3 * HOUR))
    assert fired(tick(name, now() - 3 * HOUR))["job_id"] == older["job_id"]
    assert len(jobs_of(aws, name)) == 2
    assert known(name)["last_job"]["id"] == newer["job_id"]


def test_a_clock_that_goes_through_the_repeated_hour_and_back_fires_each_tick_once(aws: Cloud, name: str) -> None:
    when, zone = timetable("cron(*/20 * * * ? *)"), ZoneInfo("Europe/Berlin")
    begin = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    ticks: Counter[str] = Counter()
    for minute in range(61):
        seen = begin + timedelta(minutes=minute)
        for clock in (seen, seen - timedelta(seconds=10)):  # it is set back a little
            due = next_tick(when, zone, clock - timedelta(minutes=1), begin)
            if due is not None and due <= clock:
                ticks[due.isoformat()] += 1
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(ticker, "datetime", _Clock(clock))
                    fired(tick(name, due))
    assert list(ticks) == ["2026-10-25T00:40:00+00:00"]
    assert sum(ticks.values()) == 2
    assert len(jobs_of(aws, name)) == 1


class _Clock:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self, _: object) -> datetime:
        return self._at


def test_without_overlap_ticks_are_skipped_while_the_job_is_open_and_that_is_recorded(aws: Cloud, name: str) -> None:
    first = fired(tick(name, now() - 3 * HOUR, overlap=False))
    for hours in (2, 1):
        assert fired(tick(name, now() - hours * HOUR, overlap=False)) == {
            "skipped_for": first["job_id"], "before": False,
        }  # fmt: skip
    assert jobs_of(aws, name) == [first["job_id"]]
    seen = known(name)
    assert (seen["skipped"], seen["skipped_for"]) == (2, first["job_id"])
    assert seen["last_skip"] > seen["last_tick"]


@pytest.mark.parametrize(("failures", "state"), [(0, "succeeded"), (4, "failed")])
def test_a_job_whose_worker_was_killed_ends_and_the_next_tick_runs(
    aws: Cloud, name: str, failures: int, state: str
) -> None:
    chain = Chain(aws)
    first = fired(tick(name, now() - 4 * HOUR, overlap=False))["job_id"]
    die(first, failures=failures)
    for hours in (3, 2, 1):
        assert fired(tick(name, now() - hours * HOUR, overlap=False))["skipped_for"] == first
    walk()
    chain.run()
    assert job_in_table(first).state == state
    assert [json.loads(each["Body"])["job_id"] for each in aws.received("dead-letters")] == [first] * (failures > 0)
    second = fired(tick(name, now(), overlap=False))["job_id"]
    assert jobs_of(aws, name) == sorted([first, second])
    assert known(name)["skipped"] == 3


def test_a_job_that_is_cancelled_lets_the_next_tick_through(aws: Cloud, name: str) -> None:
    first = fired(tick(name, now() - HOUR, overlap=False))["job_id"]
    cancel.handler(http_event("DELETE /v1/jobs/{id}", path={"id": first}), LambdaContext())
    assert fired(tick(name, now(), overlap=False))["job_id"] not in (None, first)


def test_a_tick_that_cannot_be_submitted_fails_the_function_and_says_why(aws: Cloud, name: str) -> None:
    bad = tick(name, now(), args={"stepps": 1})
    for _ in range(3):  # Lambda tries it so often before it puts the event among the lost ticks
        with pytest.raises(BadRequest):
            fired(bad)
    assert jobs_of(aws, name) == []
    seen = known(name)
    assert "/args/stepps" in seen["reason"]
    assert seen["refused"][:19] == bad["scheduled_time"][:19]
    assert fired(tick(name, now(), args={"steps": 1}))["before"] is False
    assert "refused" not in known(name)


def test_a_tick_that_is_too_late_to_be_told_from_a_second_one_fails_the_function(aws: Cloud, name: str) -> None:
    with pytest.raises(Gone, match="days late"):
        fired(tick(name, now() - timedelta(days=7)))
    assert jobs_of(aws, name) == []


def test_a_tick_that_meets_trouble_of_aws_comes_again_and_is_one_job(aws: Cloud, name: str) -> None:
    event = tick(name, now())
    with troubled(ports.jobs_and_keys()._client, *[BUSY] * 3), pytest.raises(Unavailable):
        fired(event)
    first = fired(event)
    assert jobs_of(aws, name) == [first["job_id"]]


@pytest.mark.parametrize("wrong", [{"scheduled_time": "<aws.scheduler.scheduled-time>"}, {"tenant": None}])
def test_an_event_that_is_no_tick_fails_the_function(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=next(iter(wrong))):
        fired(tick(name, now()) | wrong)


def test_a_tick_takes_three_calls(name: str) -> None:
    with counting_calls() as calls:
        fired(tick(name, now()))
    assert calls == {"GetItem": 2, "TransactWriteItems": 1}
