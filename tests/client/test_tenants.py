"""coatcheck tenants: what each may and has, as the operators' function says it, over tables of this process."""

import json
from collections.abc import Iterator

import boto3
import pytest

from coatcheck.admission import standing_key
from coatcheck.load import LOAD_KEY
from coatcheck.write import put
from coatcheck_client import keys
from coatcheck_client.deployment import Deployment
from handlers import operator, ports
from tests.client.command import Run
from tests.coatcheck.cloud import REGION, cloud
from tests.coatcheck.rows import NOW
from tests.handlers.events import LambdaContext


@pytest.fixture(autouse=True)
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with cloud() as aws:
        outputs = {
            "TenantsTable": "tenants",
            "ScheduleGroup": "coatcheck-test",
            "ScheduleRole": "arn:aws:iam::123456789012:role/schedules",
            "TickerFunction": f"arn:aws:lambda:{REGION}:123456789012:function:ticker",
            "LostTicksQueueUrl": aws.queues["dead-letters"],
        }
        made = Deployment("test", outputs, boto3.Session(region_name=REGION))
        monkeypatch.setattr("coatcheck_client.commands.tenants.find_deployment", lambda _: made)
        monkeypatch.setattr(
            "coatcheck_client.tenants.operate",
            lambda _, act, **fields: json.loads(
                json.dumps(operator.handler({"act": act, "by": "me", **fields}, LambdaContext()))
            ),
        )
        load = {"open_jobs": 1234, "counted_at": NOW, "tenants": {"acme": {"interactive": 1200, "bulk": 34}}}
        ports.jobs().write(put(LOAD_KEY, load))
        yield made


def words(line: str) -> list[str]:
    return line.split()


def test_what_is_set_is_shown_beside_what_everybody_has(run: Run) -> None:
    ended = run("tenants", "set", "acme", "--burst", "7", "--cap", "interactive=9", "--cap", "bulk=20")
    assert ended.code == 0
    lines = [words(line) for line in ended.stdout.splitlines()]
    assert ["submits", "a", "second", "10,000", "as", "everybody"] in lines
    assert ["at", "once", "7", "its", "own"] in lines
    assert ["open", "jobs", "1,000,000", "as", "everybody", "1,234", "now"] in lines
    assert ["interactive", "9", "(its", "own)", "0", "0", "1200"] in lines
    assert run("tenants", "show", "acme").stdout == ended.stdout


def test_a_reset_leaves_nothing_of_its_own(run: Run) -> None:
    run("tenants", "set", "globex", "--open-jobs", "50")
    assert "globex" in run("tenants", "list").stdout
    told = json.loads(run("tenants", "reset", "globex", "--json").stdout)
    assert (told["tenant"], told["limits"], told["stage"]["open_jobs"]) == ("globex", {"caps": {}}, 1_000_000)
    assert "globex" not in run("tenants", "list").stdout


@pytest.mark.parametrize("act", [("show",), ("set", "--burst", "7"), ("reset",)])
def test_a_name_that_may_be_a_typo_is_told_of(run: Run, deployment: Deployment, act: tuple[str, ...]) -> None:
    doubted = run("tenants", act[0], "acmee", *act[1:])
    assert (doubted.code, doubted.stdout != "") == (0, True)
    assert "note: no API key of the tenant 'acmee' exists, and nobody has submitted a job as it" in doubted.stderr
    assert run("tenants", act[0], "acme", *act[1:]).stderr == ""  # it has open jobs
    keys.create(deployment, "acmee", keys.new_key_text(), now=NOW)
    assert run("tenants", act[0], "acmee", *act[1:]).stderr == ""
    ports.tenants().write(put(standing_key("globex"), {"tenant": "globex"}))
    assert run("tenants", act[0], "globex", *act[1:]).stderr == ""


@pytest.mark.parametrize("act", [("show",), ("set", "--burst", "7"), ("reset",)])
def test_what_is_no_name_of_a_tenant_is_refused(run: Run, act: tuple[str, ...]) -> None:
    ended = run("tenants", act[0], "no such tenant", *act[1:])
    assert (ended.code, ended.stdout) == (2, "")
    assert "'no such tenant' is no name of a tenant: it has 1 to 64 of a-z" in ended.stderr
    assert "no such tenant" not in run("tenants", "list").stdout


def test_a_schedule_of_a_tenant_that_may_be_a_typo_is_made_and_told_of(
    run: Run, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coatcheck_client.commands.schedules.find_deployment", lambda _: deployment)
    monkeypatch.setattr("coatcheck_client.schedules.operate", lambda *_, **__: {})
    deployment.scheduler.create_schedule_group(Name="coatcheck-test")
    ended = run("schedules", "create", "nightly", "probe", "rate(1 day)", "--tenant", "acmee")
    assert (ended.code, "nightly is on" in ended.stdout) == (0, True)
    assert "note: no API key of the tenant 'acmee' exists" in ended.stderr
    keys.create(deployment, "acmee", keys.new_key_text(), now=NOW)
    assert run("schedules", "create", "weekly", "probe", "rate(7 days)", "--tenant", "acmee").stderr == ""


def test_all_tenants_are_listed_those_with_the_most_open_jobs_first(run: Run) -> None:
    run("tenants", "set", "globex", "--requests-per-second", "2", "--cap", "bulk=1")
    ended = run("tenants", "list")
    rows = [words(line) for line in ended.stdout.splitlines()]
    assert rows[1:] == [
        ["(everybody)", "10,000", "100,000", "1,000,000", "interactive=3", "bulk=10"],
        ["acme", "1234"],
        ["globex", "2", "bulk=1"],
    ]
    assert "2026-11-10T12:00:00" in ended.stderr


def test_programs_are_told_the_same_of_one_tenant_as_of_all(run: Run) -> None:
    """What is not known, or not its own, is left out."""
    shown = json.loads(run("tenants", "set", "globex", "--burst", "2", "--json").stdout)
    listed = json.loads(run("tenants", "list", "--json").stdout)
    assert listed == {
        "stage": shown["stage"],
        "tenants": [
            {"tenant": "acme", "open_jobs": 1234, "limits": {"caps": {}}},
            {"tenant": "globex", "limits": {"burst": 2, "caps": {}}},
        ],
    }
    assert shown.keys() == {"stage", "tenant", "limits", "open_jobs", "lanes"}
    assert shown["limits"] == listed["tenants"][1]["limits"]
    assert json.loads(run("tenants", "show", "globex", "--json").stdout) == shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--cap", "interactive=101"), "must be within 1 and 100, not 101"),
        (("--cap", "express=3"), "there is no lane 'express'"),
        (("--cap", "3"), "'3' is not like interactive=5"),
        (("--burst", "1000000"), "must be within 1 and 100,000"),
        ((), "say at least one limit"),
    ],
)
def test_limits_that_make_no_sense_are_refused_with_what_would(run: Run, arguments: tuple[str, ...], says: str) -> None:
    ended = run("tenants", "set", "acme", *arguments)
    assert ended.code == 2
    assert says in " ".join(ended.stderr.replace("│", " ").split())
    assert ended.stdout == ""
