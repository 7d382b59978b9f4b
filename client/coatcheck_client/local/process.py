"""Background processes that outlive the command that started them, and can be recognised and stopped later."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from coatcheck_client.local.poll import until

_MARK = "COATCHECK_PROCESS"
# Start times are computed from the time of the boot, which moves when the clock is set.
_START_TIME_SLACK_SECONDS = 2.0

# Children of this very process: they must be reaped here, or they stay as zombies.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, kw_only=True)
class Process:
    """The leader of a process group of ours. With its start time, since a pid alone may be a stranger's by now."""

    pid: int
    started: float
    stop_signal: int = signal.SIGTERM


def start(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    user: str | None = None,
    stop_signal: int = signal.SIGTERM,
) -> Process:
    """Start a process in a session of its own, out of reach of the terminal's Ctrl-C; its output goes to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            [str(part) for part in command],
            env={**env, _MARK: str(log)},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=user,
        )
    _children[child.pid] = child
    return Process(pid=child.pid, started=psutil.Process(child.pid).create_time(), stop_signal=stop_signal)


def is_running(process: Process) -> bool:
    return _leader(process) is not None


def listens(process: Process, port: int) -> bool:
    """Whether it is this process that listens on a TCP port of this machine."""
    try:
        connections = psutil.Process(process.pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in connections)


def wait(process: Process) -> int:
    """Wait for a process that this very process started, and return its exit code."""
    return _children.pop(process.pid).wait()


def stop(process: Process, *, grace_seconds: float = 10.0) -> None:
    """Stop the leader politely, then what is left of the group by force. Whatever is not ours is left alone."""
    members = set(_members(process))
    if leader := _leader(process):
        _send(leader, process.stop_signal)
        _wait_for_end([leader], process, grace_seconds)
    members.update(_members(process))
    for member in members:
        _send(member, signal.SIGKILL)
    _wait_for_end(members, process, grace_seconds)


def _leader(process: Process) -> psutil.Process | None:
    """The leader, if it runs."""
    found = _with_pid(process)
    return found if found and _is_same(found, process) and _runs(found) else None


def _with_pid(process: Process) -> psutil.Process | None:
    """Whoever has the pid now, also as a zombie."""
    _reap(process)
    try:
        return psutil.Process(process.pid)
    except psutil.NoSuchProcess:
        return None


def _is_same(found: psutil.Process, process: Process) -> bool:
    try:
        return abs(found.create_time() - process.started) <= _START_TIME_SLACK_SECONDS
    except psutil.NoSuchProcess:
        return False


def _reap(process: Process) -> None:
    child = _children.get(process.pid)
    if child and child.poll() is not None:
        del _children[process.pid]


def _members(process: Process) -> Iterator[psutil.Process]:
    """The leader with all its descendants; if it has ended, what is left of its group."""
    if leader := _leader(process):
        yield leader
        yield from leader.children(recursive=True)
        return
    found = _with_pid(process)
    # A pid is given away again only when nothing is left of the group that bears it.
    if found is None or _is_same(found, process):
        yield from (orphan for orphan in psutil.process_iter() if _is_orphan(orphan, process))


def _is_orphan(candidate: psutil.Process, process: Process) -> bool:
    try:
        return (
            os.getpgid(candidate.pid) == process.pid
            and candidate.create_time() >= process.started - _START_TIME_SLACK_SECONDS
            and _MARK in candidate.environ()
        )
    except (psutil.Error, ProcessLookupError):
        return False


def _wait_for_end(members: Iterable[psutil.Process], process: Process, seconds: float) -> None:
    """Not psutil's own wait: a zombie counts as ended, since its parent may be waiting for us before it looks."""

    def ended() -> bool:
        _reap(process)
        return not any(_runs(member) for member in members)

    until(ended, seconds)


def _runs(member: psutil.Process) -> bool:
    try:
        return member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _send(member: psutil.Process, number: int) -> None:
    try:
        member.send_signal(number)
    except psutil.NoSuchProcess:
        return  # it ended by itself in the meantime
