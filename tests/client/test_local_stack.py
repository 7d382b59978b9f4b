"""What a local stack remembers, when it is deployed again, and how its ports are chosen."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coatcheck_client.local.cdk import fingerprint
from coatcheck_client.local.port import LOOPBACK, answers, free_port, reserved_port
from coatcheck_client.local.process import Process
from coatcheck_client.local.record import (
    Server,
    Stack,
    StackIsBusy,
    State,
    TenantKey,
    exclusive,
    read_stack,
    read_state,
    write_stack,
    write_state,
)
from coatcheck_client.project import Project, find_project

CONTEXT = {"stage": "local", "source_url": "postgresql://somewhere"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name in ("app.py", "cdk.json", "functions/handlers/submit.py", "infra/stack.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "package-lock.json").write_text("")
    (tmp_path / ".local").mkdir()
    return Project(root=tmp_path, local=tmp_path / ".local")


def test_a_stack_is_remembered(project: Project) -> None:
    state = State(emulator=Server(process=Process(pid=1, started=2.5), port=3), scale=4, deployed="5")
    stack = Stack(
        api_url="http://127.0.0.1:3",
        console_url=None,
        aws_endpoint_url="http://localhost:3",
        region="us-east-1",
        database_url="postgresql://somewhere",
        outputs={"ApiId": "a"},
        tenants=(TenantKey(tenant="acme", api_key="cc_x"),),
    )
    write_state(project, state)
    write_stack(project, stack)
    assert (read_state(project), read_stack(project)) == (state, stack)
    assert project.stack_file.stat().st_mode & 0o077 == 0, "it holds keys"


@pytest.mark.parametrize("content", ["", "{", '{"emulator": 7}'])
def test_a_record_that_cannot_be_read_is_none(project: Project, content: str) -> None:
    (project.local / "state.json").write_text(content)
    project.stack_file.write_text(content)
    assert read_state(project) == State()
    assert read_stack(project) is None


def test_two_commands_do_not_build_one_stack(project: Project) -> None:
    with exclusive(project), pytest.raises(StackIsBusy), exclusive(project):
        pass
    with exclusive(project):
        pass


@pytest.mark.parametrize("name", ["functions/handlers/submit.py", "infra/new.py", "cdk.json", "requirements.txt"])
def test_a_change_of_the_sources_is_a_reason_to_deploy(project: Project, name: str) -> None:
    before = fingerprint(project, CONTEXT)
    (project.root / name).write_text("changed")
    assert fingerprint(project, CONTEXT) != before


def test_a_change_of_the_context_is_a_reason_to_deploy(project: Project) -> None:
    assert fingerprint(project, CONTEXT) != fingerprint(project, {**CONTEXT, "source_rows_per_second": "10"})


def test_other_changes_are_no_reason_to_deploy(project: Project) -> None:
    before = fingerprint(project, CONTEXT)
    (project.root / "README.md").write_text("changed")
    (project.root / "functions/handlers/__pycache__").mkdir()
    (project.root / "functions/handlers/__pycache__/submit.pyc").write_text("changed")
    assert fingerprint(project, CONTEXT) == before


def test_the_preferred_port_is_taken_only_if_it_is_free() -> None:
    free = free_port()
    assert free_port(free) == free
    with socket.create_server((LOOPBACK, 0)) as server:
        taken = server.getsockname()[1]
        assert answers(taken)
        assert free_port(taken) != taken
    assert not answers(taken)


def test_two_stacks_that_start_at_once_choose_different_ports() -> None:
    preferred = free_port()

    def serve(_: int) -> socket.socket:
        with reserved_port(preferred) as chosen:
            return socket.create_server((LOOPBACK, chosen))

    with ThreadPoolExecutor() as pool:
        servers = list(pool.map(serve, range(4)))
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    assert preferred in ports
    assert len(set(ports)) == 4


def test_the_checkout_is_found_from_within(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COATCHECK_LOCAL", raising=False)
    monkeypatch.chdir(project.root / "functions")
    assert find_project() == project
    monkeypatch.setenv("COATCHECK_LOCAL", str(project.root / "other"))
    assert find_project() == Project(root=project.root, local=project.root / "other")
