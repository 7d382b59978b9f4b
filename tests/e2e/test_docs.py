"""The transcripts of docs/api.md, the examples of docs/client.md and the commands of docs/schedules.md, run live."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coatcheck_client.cli import app
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

DOCS = Path(__file__).parents[2] / "docs"


def test_the_transcripts_are_what_curl_shows(live: LiveStack, client: Client) -> None:
    """`…` stands for anything; the lines of an answer come in any order, among others."""
    known = next(each for each in live.stack.tenants if each.tenant == "bharat-bazaar")
    environment = {**os.environ, "URL": live.stack.api_url, "KEY": known.api_key}
    transcripts = re.findall(r"```console\n(.*?)```", (DOCS / "api.md").read_text(), re.DOTALL)
    assert len(transcripts) >= 4
    for transcript in transcripts:
        command, expected = _parts(transcript)
        shown = subprocess.run(
            ["bash", "-c", command], env=environment, capture_output=True, check=True
        ).stdout.decode()
        for line in expected:
            pattern = ".*".join(re.escape(part) for part in line.split("…"))
            assert re.search(pattern, shown, re.IGNORECASE | re.DOTALL), f"{command}\n{shown}\nlacks: {line}"
        if job := re.search(r'"id":"(j_\w+)"', shown):
            environment["JOB"] = job[1]
            client.wait_final(job[1], within=30)


def test_the_examples_of_the_client_print_what_they_say(live: LiveStack, tmp_path: Path) -> None:
    """One program made of all of them; behind `#` stands the line that a print makes, `…` for anything."""
    known = next(each for each in live.stack.tenants if each.tenant == "bharat-bazaar")
    environment = {**os.environ, "COATCHECK_API_URL": live.stack.api_url, "COATCHECK_API_KEY": known.api_key}
    program = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / "client.md").read_text(), re.DOTALL))
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    expected = re.findall(r"print\(.*\)  # (.*)", program)
    assert len(expected) >= 6
    patterns = [".*".join(re.escape(part) for part in line.split("…")) for line in expected]
    assert re.search("^" + "$.*^".join(patterns) + "$", ran.stdout, re.MULTILINE | re.DOTALL), ran.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["report.csv.gz"]


def test_the_commands_about_schedules_work_in_their_order(live: LiveStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COATCHECK_LOCAL", str(live.project.local))
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / "schedules.md").read_text(), re.DOTALL)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert len(commands) >= 10
    for program, *arguments in commands:
        assert program == "coatcheck"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{arguments}\n{done.output}{done.exception}"
    left = CliRunner().invoke(app, ["schedules", "list", "--json"])
    assert left.stdout == ""  # what they make they delete


def _parts(transcript: str) -> tuple[str, list[str]]:
    """The command, and the lines that its output has."""
    lines = transcript.splitlines()
    command = [line[2:] for line in lines if line.startswith(("$ ", "> "))]
    return "\n".join(command), [line for line in lines if not line.startswith(("$ ", "> "))]
