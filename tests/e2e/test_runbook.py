"""Every command of docs/runbook.md, run in the order of the page against the live stack."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coatcheck_client.cli import app
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

RUNBOOK = Path(__file__).parents[2] / "docs" / "runbook.md"


def test_every_command_works(live: LiveStack, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = client.submit("probe", {"fail_with": "permanent", "fail_times": 1}, lane="bulk")
    client.wait_state(job_id, "failed", within=60)
    letter = {"job_id": job_id, "tenant": "bharat-bazaar", "kind": "probe", "error_type": "attempts_exhausted"}
    live.deployment.sqs.send_message(
        QueueUrl=live.deployment.output("DeadLetterQueueUrl"), MessageBody=json.dumps(letter)
    )
    monkeypatch.setenv("COATCHECK_LOCAL", str(live.project.local))
    for name, value in {"JOB": job_id, "KIND": "probe", "LANE": "bulk", "TENANT": "coastal-crafts"}.items():
        monkeypatch.setenv(name, value)
    blocks = re.findall(r"```sh\n(.*?)```", RUNBOOK.read_text(), re.DOTALL)
    commands = dict.fromkeys(line.partition(" #")[0].strip() for block in blocks for line in block.splitlines())
    assert len(commands) >= 25
    shown = {}
    for command in commands:
        program, *arguments = shlex.split(os.path.expandvars(command))
        assert program == "coatcheck"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{command}\n{done.output}{done.exception}"
        shown[command] = done.stdout
    assert job_id in shown["coatcheck dlq list"]
    assert "is now j_" in shown['coatcheck dlq redrive "$JOB"']
    assert "supervisor-silent" in shown["coatcheck alarms --all"]
