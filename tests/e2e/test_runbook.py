"""Every command of docs/runbook.md, run in the order of the page against the live stack."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.client import Client
from tests.e2e.live import LiveStack

RUNBOOK = Path(__file__).parents[2] / "docs" / "runbook.md"


def test_every_command_works(live: LiveStack, client: Client) -> None:
    job_id = client.submit("probe", {"fail_with": "permanent", "fail_times": 1}, lane="bulk")
    client.wait_state(job_id, "failed", within=60)
    letter = {"job_id": job_id, "tenant": "bharat-bazaar", "kind": "probe", "error_type": "attempts_exhausted"}
    live.deployment.sqs.send_message(
        QueueUrl=live.deployment.output("DeadLetterQueueUrl"), MessageBody=json.dumps(letter)
    )
    blocks = re.findall(r"```sh\n(.*?)```", RUNBOOK.read_text(), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) >= 30
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COATCHECK_LOCAL": str(live.project.local),
        "JOB": job_id,
        "KIND": "probe",
        "LANE": "bulk",
        "TENANT": "coastal-crafts",
    }
    shown = {}
    for command in commands:
        ran = subprocess.run(
            ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        shown[command] = ran.stdout
    assert job_id in shown["coatcheck dlq list"]
    assert "is now j_" in shown['coatcheck dlq redrive "$JOB"']
    assert "supervisor-silent" in shown["coatcheck alarms --all"]
