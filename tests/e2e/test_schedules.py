"""Schedules on the live stack: they fire, a tick is one job, nothing overlaps that must not, nothing is lost unseen."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner, Result

from coatcheck.schedule import SCHEDULED_TIME
from coatcheck_client.cli import app
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

TENANT = "bharat-bazaar"
FIRES_WITHIN = 30.0
BEGUN = datetime.now(UTC).replace(microsecond=0)


class Schedules:
    """The command, and the ticker as EventBridge Scheduler invokes it."""

    def __init__(self, live: LiveStack) -> None:
        self._live = live
        self._runner = CliRunner()

    def run(self, *arguments: str) -> Result:
        done = self._runner.invoke(app, ["schedules", *arguments])
        assert done.exit_code == 0, f"{done.output}{done.exception}"
        return done

    def refused(self, *arguments: str) -> str:
        done = self._runner.invoke(app, ["schedules", *arguments])
        assert done.exit_code != 0
        return f"{done.exception} {getattr(done.exception, 'hint', '')}"

    def create(self, name: str, when: str, *more: str, args: dict[str, Any] | None = None) -> None:
        self.run("create", name, "probe", when, "--tenant", TENANT, "--args", json.dumps(args or {}), *more)

    def show(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self.run("show", name).stdout))

    def names(self) -> list[str]:
        return [json.loads(line)["name"] for line in self.run("list", "--json").stdout.splitlines()]

    def event(self, name: str, minute: int, *, overlap: bool = True, **args: Any) -> dict[str, Any]:
        """That of a tick, some minutes before these tests began."""
        return {
            "schedule": name,
            "scheduled_time": f"{BEGUN - timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}",
            "tenant": TENANT,
            "request": {"kind": "probe", "args": args, "lane": "bulk"},
            "overlap": overlap,
            "origin": "command",
        }

    def fire(self, event: dict[str, Any]) -> dict[str, Any]:
        functions, ticker = self._live.deployment.functions, self._live.deployment.output("TickerFunction")
        answer = functions.invoke(FunctionName=ticker, Payload=json.dumps(event).encode())
        told: dict[str, Any] = json.loads(answer["Payload"].read())
        assert not answer.get("FunctionError"), told
        return told

    def fire_and_forget(self, event: dict[str, Any]) -> None:
        """As the service does: a failure is Lambda's to try again, and to keep."""
        functions, ticker = self._live.deployment.functions, self._live.deployment.output("TickerFunction")
        functions.invoke(FunctionName=ticker, Payload=json.dumps(event).encode(), InvocationType="Event")


@pytest.fixture
def schedules(live: LiveStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Schedules]:
    monkeypatch.setenv("COATCHECK_LOCAL", str(live.project.local))
    made = Schedules(live)
    yield made
    for name in made.names():
        made.run("delete", name)


def jobs_of(client: Client, name: str) -> list[dict[str, Any]]:
    return list(client.request("GET", f"/v1/jobs?label=schedule:{name}").document["items"])


def test_a_single_time_of_a_zone_fires_once_and_is_gone_and_a_paused_one_does_not(
    live: LiveStack, client: Client, schedules: Schedules
) -> None:
    schedules.names()  # the functions are warm: the time is not past before the schedule is made
    at = (datetime.now(ZoneInfo("Asia/Kolkata")) + timedelta(seconds=10)).replace(microsecond=0)
    for name, more in (("quiet", ["--paused"]), ("once", [])):
        schedules.create(name, f"at({at.replace(tzinfo=None).isoformat()})", "--timezone", "Asia/Kolkata", *more)
    (job,) = live.wait_for(lambda: jobs_of(client, "once"), within=FIRES_WITHIN)
    assert job["labels"]["tick"] == f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    assert job["requested_by"] == "schedule once"
    client.wait_state(job["id"], "succeeded", within=30)
    live.wait_for(lambda: schedules.names() == ["quiet"], within=10)
    assert [each["id"] for each in jobs_of(client, "once")] == [job["id"]]
    assert not jobs_of(client, "quiet")


def test_a_rate_fires_at_once_and_says_what_became_of_it(live: LiveStack, client: Client, schedules: Schedules) -> None:
    schedules.create("often", "rate(1 minute)", "--lane", "bulk", args={"steps": 2})
    (job,) = live.wait_for(lambda: jobs_of(client, "often"), within=FIRES_WITHIN)
    client.wait_state(job["id"], "succeeded", within=30)
    shown = schedules.show("often")
    assert shown["last_job"] == {"id": job["id"], "state": "succeeded"}
    assert (shown["state"], shown["args"], shown["skipped"]) == ("on", {"steps": 2}, 0)
    due = datetime.fromisoformat(shown["next_tick"]) - datetime.fromisoformat(shown["last_tick"])
    assert due == timedelta(minutes=1)


def test_twenty_firings_of_one_tick_at_once_are_one_job(client: Client, schedules: Schedules) -> None:
    event = schedules.event("crowd", 1)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: schedules.fire(event), range(20)))
    (job,) = jobs_of(client, "crowd")
    assert {answer["job_id"] for answer in answers} == {job["id"]}
    assert schedules.fire(schedules.event("crowd", 1, steps=3))["job_id"] == job["id"]  # edited meanwhile
    client.wait_state(job["id"], "succeeded", within=30)
    assert schedules.fire(event)["job_id"] == job["id"]
    assert schedules.fire(schedules.event("crowd", 0))["job_id"] != job["id"]


def test_a_job_whose_worker_is_killed_holds_ticks_off_until_it_ends_and_no_longer(
    live: LiveStack, client: Client, schedules: Schedules
) -> None:
    schedules.create("alone", "rate(1 day)", "--no-overlap", "--lane", "bulk", "--paused", args={"seconds": 4})
    job_id = schedules.fire(schedules.event("alone", 9, overlap=False, seconds=4))["job_id"]
    client.wait_state(job_id, "running", within=30)
    assert live.kill("worker-bulk")
    for minute in (8, 7, 6):
        assert schedules.fire(schedules.event("alone", minute, overlap=False))["skipped_for"] == job_id
    assert job_id in schedules.refused("run", "alone")
    ended = client.wait_state(job_id, "succeeded", within=60)
    assert ended["attempt"] > 1
    shown = schedules.show("alone")
    assert (shown["skipped"], shown["skipped_for"], shown["last_job"]["id"]) == (3, job_id, job_id)
    assert schedules.fire(schedules.event("alone", 6, overlap=False))["skipped_for"] == job_id  # it was, and stays so
    second = schedules.fire(schedules.event("alone", 5, overlap=False))["job_id"]
    client.wait_state(second, "succeeded", within=30)
    assert schedules.show("alone")["skipped"] == 3


def test_the_command_keeps_schedules(client: Client, schedules: Schedules) -> None:
    made = schedules.run(
        *("create", "nightly", "probe", "cron(30 2 * * ? *)", "--timezone", "Europe/Berlin", "--tenant", TENANT),
        *("--paused", "--args", json.dumps({"seconds": 1, "steps": 2})),
    )
    assert "there is no tick at 02:30: the clocks of Europe/Berlin go from 02:00 to 03:00" in made.stderr
    shown = schedules.show("nightly")
    assert (shown["state"], "next_tick" in shown, shown["kept_by"]) == ("paused", False, "command")
    assert "is on" in schedules.run("resume", "nightly").stderr
    assert schedules.show("nightly")["next_tick"]
    assert "there is a schedule 'nightly' already" in schedules.refused(
        "create", "nightly", "probe", "rate(1 hour)", "--tenant", TENANT
    )
    schedules.create("nightly", "cron(30 3 * * ? *)", "--timezone", "Europe/Berlin", "--replace")
    assert schedules.show("nightly")["expression"] == "cron(30 3 * * ? *)"
    schedules.run("pause", "nightly")
    first, again = (schedules.run("run", "nightly", "--key", "by-hand").stdout.strip() for _ in range(2))
    assert first == again != schedules.run("run", "nightly").stdout.strip()
    assert client.status(first)["labels"] == {"schedule": "nightly"}
    assert "nightly" in schedules.run("list").stdout
    schedules.run("delete", "nightly")
    assert "there is no schedule 'nightly'" in schedules.refused("delete", "nightly")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("prob", "rate(1 hour)"), "/kind: no such kind: there are "),
        (("probe", "rate(1 hour)", "--args", '{"stepps": 1}'), "/args/stepps: unknown"),
        (("probe", "rate(1 hour)", "--args", "[]"), "--args is no object"),
        (("probe", "rate(1 hour)", "--lane", "slow"), "must be one of interactive, bulk"),
        (("probe", "0 2 * * *"), "write rate(15 minutes), cron(30 2 * * ? *)"),
        (("probe", "rate(1 hour)", "--timezone", "Asia/Calcuta"), "did you mean Asia/Calcutta"),
        (("probe", "at(2027-03-28T02:30:00)", "--timezone", "Europe/Berlin"), "write at(2027-03-28T03:30:00)"),
    ],
)
def test_what_would_never_become_a_job_is_refused_with_what_to_do(
    schedules: Schedules, arguments: tuple[str, ...], says: str
) -> None:
    assert says in schedules.refused("create", "wrong", *arguments, "--tenant", TENANT)
    assert "wrong" not in schedules.names()


def test_a_tick_that_is_refused_is_kept_says_why_and_can_be_let_go(live: LiveStack, schedules: Schedules) -> None:
    schedules.fire_and_forget(schedules.event("broken", 3, stepps=1))
    live.wait_for(lambda: "broken" in schedules.run("lost").stdout, within=60)
    lost = schedules.run("lost").stdout
    assert "the args do not fit the kind probe" in lost
    redone = schedules.run("lost", "--redo")
    assert "refused: the args do not fit the kind probe" in redone.stdout
    assert "1 lost ticks are left" in redone.stderr
    schedules.run("lost", "--forget")
    assert "0 lost ticks" in schedules.run("lost").stderr


def test_a_tick_that_the_service_gave_up_is_taken_again_as_one_job(
    live: LiveStack, client: Client, schedules: Schedules
) -> None:
    event = schedules.event("outage", 4)
    for _ in range(2):
        live.deployment.sqs.send_message(
            QueueUrl=live.deployment.output("LostTicksQueueUrl"),
            MessageBody=json.dumps(event | {"scheduled_time": SCHEDULED_TIME}),
            MessageAttributes={
                "SCHEDULED_TIME": {"StringValue": event["scheduled_time"], "DataType": "String"},
                "ERROR_MESSAGE": {"StringValue": "Rate exceeded", "DataType": "String"},
            },
        )
    assert "Rate exceeded" in schedules.run("lost").stdout
    redone = schedules.run("lost", "--redo")
    (job,) = jobs_of(client, "outage")
    assert redone.stdout.count(job["id"]) == 2
    assert "0 lost ticks are left" in redone.stderr


def test_a_tick_is_all_that_the_ticker_may_take(live: LiveStack, schedules: Schedules) -> None:
    job_id = schedules.fire(schedules.event("rights", 2))["job_id"]
    environment = live.function_processes("ticker")[0].environ()
    table = live.session.client(
        "dynamodb",
        endpoint_url=live.stack.aws_endpoint_url,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=environment["AWS_SESSION_TOKEN"],
    )
    place: Any = {"TableName": live.deployment.output("JobsTable"), "Key": {"id": {"S": job_id}, "item": {"S": "job"}}}
    assert "Item" in table.get_item(**place)
    for act in (table.delete_item, table.update_item):
        with pytest.raises(ClientError) as refused:
            act(**place)
        assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
