"""Background processes are recognised, and stopped as a whole, but never somebody else's."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.process import Process, is_running, listens, start, stop, wait

# Starts a child and tells its pid; both sleep much longer than any test.
_PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
_STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ignoring", flush=True)
time.sleep(600)
"""


def eventually(holds: Callable[[], bool], *, within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def started(code: str, folder: Path) -> Process:
    log = folder / "process.log"
    process = start([sys.executable, "-c", code], env={}, cwd=folder, log=log)
    eventually(lambda: log.read_text().endswith("\n"))
    return process


def child_of(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "process.log").read_text()))


def runs(process: psutil.Process) -> bool:
    """A zombie has ended; when it vanishes is up to its parent."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_stopping_ends_children_too(tmp_path: Path) -> None:
    process = started(_PARENT, tmp_path)
    child = child_of(tmp_path)
    assert is_running(process)
    stop(process)
    assert not is_running(process)
    assert not runs(child)


def test_children_that_outlived_their_parent_are_stopped(tmp_path: Path) -> None:
    process = started(_PARENT, tmp_path)
    child = child_of(tmp_path)
    psutil.Process(process.pid).kill()
    wait(process)
    assert not is_running(process)
    assert runs(child)
    stop(process)
    assert not runs(child)


def test_one_that_ignores_the_signal_is_ended_by_force(tmp_path: Path) -> None:
    process = started(_STUBBORN, tmp_path)
    stop(process, grace_seconds=0.2)
    assert not is_running(process)


def test_a_stranger_with_the_same_pid_is_left_alone(tmp_path: Path) -> None:
    process = started(_PARENT, tmp_path)
    reused = replace(process, started=process.started - 60)
    assert not is_running(reused)
    stop(reused)
    assert is_running(process)
    stop(process)


def test_stopping_what_has_ended_does_nothing(tmp_path: Path) -> None:
    process = started("print('done')", tmp_path)
    assert wait(process) == 0
    assert not is_running(process)
    stop(process)


def test_the_guard_stops_what_it_watches_at_the_end_of_its_block(tmp_path: Path) -> None:
    with Guard() as guard:
        process = started(_PARENT, tmp_path)
        child = child_of(tmp_path)
        guard.watch(process)
    assert not is_running(process)
    assert not runs(child)


def test_children_are_stopped_whose_parent_is_a_zombie(tmp_path: Path) -> None:
    with Guard() as guard:
        process = started(_PARENT, tmp_path)
        child = child_of(tmp_path)
        guard.watch(process)
        psutil.Process(process.pid).kill()  # and nobody looks at how it ended
    assert not runs(child)
    wait(process)


def test_what_was_released_lives_on(tmp_path: Path) -> None:
    with Guard() as guard:
        process = started(_PARENT, tmp_path)
        guard.watch(process)
        guard.release()
    assert is_running(process)
    stop(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_guard_stops_what_it_watches_when_its_owner_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER, str(tmp_path)], stderr=subprocess.DEVNULL)
    log = tmp_path / "process.log"
    eventually(lambda: log.exists() and log.read_text().endswith("\n"))
    child = child_of(tmp_path)
    eventually((tmp_path / "watched").exists)
    owner.send_signal(number)
    owner.wait()
    eventually(lambda: not runs(child))


_OWNER = """
import sys, time
from pathlib import Path
from coatcheck_client.local.guard import Guard
from tests.client.test_process import _PARENT, started
folder = Path(sys.argv[1])
with Guard() as guard:
    guard.watch(started(_PARENT, folder))
    (folder / "watched").touch()
    time.sleep(600)
"""


def test_a_port_that_another_process_took_first_is_not_taken_for_our_own(tmp_path: Path) -> None:
    stranger = socket.create_server(("127.0.0.1", 0))
    port = stranger.getsockname()[1]
    process = started(_LISTENER.format(port=0), tmp_path)
    own = int((tmp_path / "process.log").read_text())
    with stranger:
        assert listens(process, own)
        assert not listens(process, port)
    stop(process)
    assert not listens(process, own)


_LISTENER = """
import socket, time
with socket.create_server(("127.0.0.1", {port})) as server:
    print(server.getsockname()[1], flush=True)
    time.sleep(600)
"""
