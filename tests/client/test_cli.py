"""The command tells what is wrong and what to do, with an exit code for scripts, and never a traceback."""

from pathlib import Path

import boto3
import pytest

from coatcheck_client.deployment import Deployment
from tests.client.command import Run
from tests.client.server import ScriptedServer, document

COMMANDS = [
    *("up", "down", "demo", "status", "submit", "watch", "download", "jobs"),
    *("pause", "resume", "alarms", "plan", "supervise", "logs", "dlq", "keys", "schedules"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, run: Run) -> None:
    shown = run(command, "--help")
    assert shown.code == 0, shown.stderr
    assert "Usage:" in shown.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["submit", "probe"],
        ["watch", "j_1"],
        ["jobs"],
        ["keys", "list"],
        ["supervise"],
        ["logs"],
        ["status", "j_1"],
        ["pause"],
    ],
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


def test_a_file_of_args_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    ended = run(
        "submit", "probe", "--args", f"@{tmp_path}/none.json", "--api-url", "http://127.0.0.1:1", "--api-key", "k"
    )
    assert ended.code == 2
    assert f"names a file that cannot be read: {tmp_path}/none.json: No such file or directory" in ended.stderr


def test_a_submit_tells_its_key_so_that_it_can_be_repeated(run: Run) -> None:
    server = ScriptedServer((202, {}, document()), (202, {"Idempotent-Replayed": "true"}, document("running")))
    with server.running() as url:
        first = run("submit", "probe", "--api-url", url, "--api-key", "k")
        key = server.asked[0].headers["idempotency-key"]
        again = run("submit", "probe", "--key", key, "--api-url", url, "--api-key", "k")
    assert first.stdout.startswith("j_1 queued\n")
    assert key in first.stdout
    assert again.stdout.startswith("j_1 running, the same job as before\n")
    assert server.asked[1].headers["idempotency-key"] == key


def test_a_submit_without_an_answer_tells_its_key_too(run: Run) -> None:
    ended = run("submit", "probe", "--key", "my-key", "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert ended.code == 3
    assert "repeat it with --key my-key" in ended.stderr


def test_a_key_that_is_none_is_told(run: Run) -> None:
    ended = run("submit", "probe", "--key", "two words", "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert (ended.code, ended.stderr.splitlines()[0]) == (
        2,
        "error: an idempotency key has 1 to 255 visible ASCII characters and no spaces",
    )


@pytest.mark.parametrize("labels", [["team"], ["team:a", "team:b"]])
def test_labels_that_cannot_be_meant_are_told(labels: list[str], run: Run) -> None:
    options = [word for label in labels for word in ("--label", label)]
    ended = run("jobs", *options, "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert ended.code == 2
    assert "NAME:VALUE" in ended.stderr


def test_watching_ends_with_the_job_and_its_result(run: Run) -> None:
    now = {"Retry-After": "0"}
    server = ScriptedServer(
        (200, now, document("running", progress={"done": 1, "total": 4, "percent": 25, "stage": "exporting"})),
        (200, now, document("retrying", attempt=2, reason="backing_off")),
        (200, {}, document("succeeded", attempt=2, result={"url": "/v1/results/t", "bytes": 1234, "rows": 4})),
    )
    with server.running() as url:
        ended = run("watch", "j_1", "--api-url", url, "--api-key", "k")
    assert ended.code == 0
    assert ended.stdout.splitlines() == [
        "j_1 running 25 % (1 of 4) exporting",
        "j_1 retrying backing_off, attempt 2",
        "j_1 succeeded attempt 2",
        f"result: {url}/v1/results/t, 4 rows, 1,234 bytes",
    ]


def test_a_job_that_fails_is_an_exit_code_and_why(run: Run) -> None:
    error = {"type": "UnknownSeller", "message": "no [seller]", "retryable": False}
    with ScriptedServer((200, {}, document("failed", error=error))).running() as url:
        ended = run("watch", "j_1", "--api-url", url, "--api-key", "k")
    assert ended.code == 1
    assert ended.stdout.splitlines()[-1] == "UnknownSeller: no [seller]"


def test_a_result_is_downloaded(run: Run, tmp_path: Path) -> None:
    server = ScriptedServer((200, {}, document("succeeded", result={"bytes": 5})), (200, {}, b"hello"))
    with server.running() as url:
        ended = run("download", "j_1", str(tmp_path / "file"), "--api-url", url, "--api-key", "k")
    assert (ended.code, ended.stdout) == (0, f"{tmp_path}/file: 5 bytes\n")
    assert (tmp_path / "file").read_bytes() == b"hello"


def test_an_api_that_does_not_answer_is_named(run: Run) -> None:
    ended = run("submit", "probe", "--api-url", "http://127.0.0.1:1", "--api-key", "k")
    assert ended.code == 3
    assert "no answer from http://127.0.0.1:1" in ended.stderr


def test_another_stage_needs_a_key(run: Run) -> None:
    ended = run("submit", "probe", "--stage", "prod")
    assert ended.code == 2
    assert "COATCHECK_API_KEY" in ended.stderr


@pytest.mark.parametrize("command", [["keys", "list"], ["status"]])
def test_a_stage_that_cannot_be_looked_up_is_named(
    command: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # no credentials are to be found there, and nobody is asked for any
    for name, value in {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    ended = run(*command, "--stage", "prod")
    assert ended.code == 3
    assert "coatcheck-prod" in ended.stderr


def test_a_stages_stack_is_shown_and_not_the_local_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer((200, {}, {"status": "ok"}), (503, {}, {})).running() as url:
        deployment = Deployment("prod", {"ApiUrl": url}, boto3.Session())
        monkeypatch.setattr("coatcheck_client.commands.stack.find_deployment", {"prod": deployment}.__getitem__)
        well, ill = run("status", "--stage", "prod"), run("status", "--stage", "prod")
    assert well.code == 0
    assert well.stdout.splitlines() == ["ok   coatcheck-prod", f"  ApiUrl  {url}"]
    assert ill.code == 4


def test_nothing_to_stop_is_no_error(run: Run) -> None:
    ended = run("down")
    assert ended.code == 0
    assert ended.stdout == "nothing was running\n"


def test_a_stack_that_is_down_is_reported_as_such(run: Run) -> None:
    ended = run("status")
    assert ended.code == 3
    assert "down PostgreSQL" in ended.stdout
