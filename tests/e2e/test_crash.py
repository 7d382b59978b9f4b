"""Whatever happens to the command or to a part of the stack, no process stays behind and `up` mends the rest."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from coatcheck_client.local.database import is_listening
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.record import read_state
from coatcheck_client.local.stack import health, up
from coatcheck_client.project import Project, find_project
from coatcheck_client.proof import source_totals
from tests.e2e.live import LiveStack


def eventually(holds: Callable[[], bool], *, within: float) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes_of(project: Project) -> list[str]:
    """Command lines of all processes that bear the mark of this stack's folder."""
    found = []
    for process in psutil.process_iter():
        try:
            marks = process.environ().get("COATCHECK_PROCESS", ""), *process.cmdline()
            if process.status() != psutil.STATUS_ZOMBIE and any(str(project.local) in mark for mark in marks):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


@pytest.fixture
def other() -> Iterator[Project]:
    """A stack of its own, so that the live one stays as it is."""
    project = find_project(find_project().root / ".local" / "e2e-crash")
    shutil.rmtree(project.local, ignore_errors=True)
    yield project
    shutil.rmtree(project.local, ignore_errors=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_up_that_is_ended_midway_leaves_no_process(other: Project, number: signal.Signals) -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", "from coatcheck_client.cli import main; main()", "up", "--scale", "1000"],
        env={**os.environ, "COATCHECK_LOCAL": str(other.local)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    eventually((other.logs / "cdk-deploy.log").exists, within=120)
    # ministack, PostgreSQL and the CDK command line
    eventually(lambda: len(processes_of(other)) >= 3, within=10)
    command.send_signal(number)
    assert command.wait(timeout=30) != 0
    eventually(lambda: not processes_of(other), within=30)
    assert not other.stack_file.exists()
    assert not any(health(other).values())


def test_a_database_that_went_away_is_back_with_the_same_data_at_the_same_address(live: LiveStack) -> None:
    before = read_state(live.project)
    totals = source_totals(live.stack.database_url, "48813", "2026-10")
    assert before.database is not None
    psutil.Process(before.database.process.pid).send_signal(signal.SIGINT)
    eventually(lambda: before.database is not None and not is_listening(before.database), within=10)
    assert health(live.project) == {"local AWS (ministack)": True, "PostgreSQL": False, "application": True}

    with Guard() as guard:
        stack, changed = up(live.project, guard=guard, say=print)
        guard.release()

    assert (stack, changed) == (live.stack, True)
    assert source_totals(stack.database_url, "48813", "2026-10") == totals
    after = read_state(live.project)
    assert after.database is not None
    assert (after.emulator, after.database.port) == (before.emulator, before.database.port)
    live.guard.watch(after.database.process)
