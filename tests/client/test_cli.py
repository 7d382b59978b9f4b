"""The command tells what is wrong and what to do, with an exit code for scripts, and never a traceback."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from coatcheck_client.cli import main

COMMANDS = ["up", "down", "demo", "status", "submit", "watch", "jobs", "keys", "supervise", "logs"]


@dataclass(frozen=True)
class Ended:
    code: object
    stdout: str
    stderr: str


class Run(Protocol):
    def __call__(self, *arguments: str) -> Ended: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command with a stack's folder of its own, and with nothing of the developer's environment."""
    for name in ("COATCHECK_API_KEY", "COATCHECK_API_URL", "COATCHECK_STAGE", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COATCHECK_LOCAL", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")

    def run_command(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["coatcheck", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Ended(ended.value.code, shown.out, re.sub(r"\x1b\[[0-9;]*m", "", shown.err))

    return run_command


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, run: Run) -> None:
    shown = run(command, "--help")
    assert shown.code == 0, shown.stderr
    assert "Usage:" in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [["submit", "probe"], ["watch", "j_1"], ["jobs"], ["keys", "list"], ["supervise"], ["logs"], ["status", "j_1"]],
)
def test_without_a_stack_it_says_how_to_start_one(arguments: list[str], run: Run) -> None:
    ended = run(*arguments)
    assert ended.code == 3
    assert ended.stderr.splitlines() == [
        "error: the local stack is not running",
        "hint:  start it with `coatcheck up`",
    ]


def test_args_must_be_json(run: Run) -> None:
    ended = run("submit", "probe", "--args", "{", "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert ended.code == 2
    assert "--args is not JSON" in ended.stderr


def test_an_api_that_does_not_answer_is_named(run: Run) -> None:
    ended = run("submit", "probe", "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert ended.code == 3
    assert "no answer from http://127.0.0.1:1" in ended.stderr


def test_another_stage_needs_a_key(run: Run) -> None:
    ended = run("submit", "probe", "--stage", "prod")
    assert ended.code == 2
    assert "COATCHECK_API_KEY" in ended.stderr


def test_a_stage_that_cannot_be_looked_up_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # no credentials are to be found there, and nobody is asked for any
    for name, value in {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    ended = run("keys", "list", "--stage", "prod")
    assert ended.code == 3
    assert "coatcheck-prod" in ended.stderr


def test_nothing_to_stop_is_no_error(run: Run) -> None:
    ended = run("down")
    assert ended.code == 0
    assert ended.stdout == "nothing was running\n"


def test_a_stack_that_is_down_is_reported_as_such(run: Run) -> None:
    ended = run("status")
    assert ended.code == 3
    assert "down PostgreSQL" in ended.stdout
