"""The local stack as a developer and a script meet it."""

import subprocess
import sys

import msgspec
import psutil
import pytest
from botocore.exceptions import ClientError

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.record import read_state
from coatcheck_client.local.stack import up
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


def test_stack_json_says_where_everything_is(live: LiveStack) -> None:
    found = msgspec.json.decode(live.project.stack_file.read_bytes())
    assert set(found) == {
        "api_url",
        "console_url",
        "aws_endpoint_url",
        "region",
        "database_url",
        "outputs",
        "tenants",
    }
    assert len(found["tenants"]) >= 3
    assert {"tenant", "api_key"} == set(found["tenants"][0])
    assert {"JobsTable", "ResultsBucket", "SupervisorFunction", "DeadLetterQueueUrl"} <= set(found["outputs"])


def test_curl_alone_is_enough(live: LiveStack) -> None:
    answer = subprocess.run(
        ["curl", "--silent", "--fail", f"{live.stack.api_url}/v1/health"], check=True, capture_output=True
    )
    assert msgspec.json.decode(answer.stdout)["status"] == "ok"


def test_a_second_up_does_nothing(live: LiveStack) -> None:
    before = read_state(live.project)
    with Guard() as guard:
        stack, changed = up(live.project, guard=guard, say=print)
    assert (stack, changed) == (live.stack, False)
    assert read_state(live.project) == before


def test_nothing_listens_beyond_the_loopback_interface(live: LiveStack) -> None:
    state = read_state(live.project)
    for server in (state.emulator, state.database):
        assert server is not None
        leader = psutil.Process(server.process.pid)
        listening = {
            connection.laddr.ip
            for process in (leader, *leader.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}


def test_functions_run_with_their_own_roles(live: LiveStack, client: Client) -> None:
    """What a function's credentials may not do is refused: IAM is enforced, not simulated away."""
    client.request("GET", "/v1/jobs/j_none")
    process = live.function_processes("status")[0]
    environment = process.environ()
    table = live.session.client(
        "dynamodb",
        endpoint_url=live.stack.aws_endpoint_url,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=environment["AWS_SESSION_TOKEN"],
    )
    jobs = live.deployment.output("JobsTable")
    table.get_item(TableName=jobs, Key={"id": {"S": "j_none"}, "item": {"S": "job"}})
    with pytest.raises(ClientError) as refused:
        table.delete_item(TableName=jobs, Key={"id": {"S": "j_none"}, "item": {"S": "job"}})
    assert refused.value.response["Error"]["Code"] == "AccessDeniedException"


def test_functions_do_not_see_the_developers_environment(live: LiveStack, client: Client) -> None:
    client.request("GET", "/v1/jobs/j_none")
    environment = live.function_processes("status")[0].environ()
    assert not {"VIRTUAL_ENV", "COATCHECK_LOCAL", "COATCHECK_API_KEY", "AWS_PROFILE"} & set(environment)


def test_the_command_finds_the_stack_and_follows_a_job(live: LiveStack) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from coatcheck_client.cli import main; main()", *arguments],
            env={"COATCHECK_LOCAL": str(live.project.local), "PATH": "/usr/bin:/bin"},
            cwd=live.project.root,
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("submit", "probe", "--watch", "--json")
    assert done.returncode == 0, done.stderr
    assert msgspec.json.decode(done.stdout.splitlines()[-1])["state"] == "succeeded"

    failed = run("submit", "probe", "--args", '{"fail_times": 1, "fail_with": "permanent"}', "--watch")
    assert failed.returncode == 1, failed.stdout + failed.stderr

    unknown = run("status", "j_00000000000000000000000000")
    assert unknown.returncode == 4
    assert unknown.stderr.startswith("error: 404")

    key = run("keys", "create", "hill-spices").stdout.strip()
    assert run("submit", "probe", "--api-key", key).returncode == 0
    assert run("keys", "revoke", key).returncode == 0
    assert key[-4:] not in run("keys", "list", "--tenant", "hill-spices").stdout

    assert run("supervise").returncode == 0
    assert "settled" in run("logs", "worker").stdout
    assert run("status").returncode == 0
