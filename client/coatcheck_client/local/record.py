"""What is known about a local stack between two commands: its processes, what is deployed, and where it answers."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from coatcheck_client.local.process import Process
from coatcheck_client.project import Project
from coatcheck_client.trouble import ExitCode, Trouble


@dataclass(frozen=True, kw_only=True)
class Server:
    """A background process that answers on a port of the loopback interface."""

    process: Process
    port: int


@dataclass(frozen=True, kw_only=True)
class State:
    """What `up` started and did so far; written as soon as it is so, that a crash leaves nothing unknown."""

    emulator: Server | None = None
    database: Server | None = None
    scale: int | None = None
    """The number of invoices of the big seller that the marketplace was last seeded with."""

    rows_per_second: int | None = None
    """The pace at which workers read the database; 0 for as fast as they can."""

    deployed: str | None = None
    """The fingerprint of the sources that are deployed; None while nothing or something half is."""


@dataclass(frozen=True, kw_only=True)
class TenantKey:
    tenant: str
    api_key: str


@dataclass(frozen=True, kw_only=True)
class Stack:
    """The running stack as everybody may read it: `.local/stack.json`."""

    api_url: str
    console_url: str | None
    aws_endpoint_url: str
    region: str
    database_url: str
    outputs: dict[str, str] = field(default_factory=dict)
    tenants: tuple[TenantKey, ...] = ()


class StackIsBusy(Trouble):
    """Two commands must not build and tear down the same stack at once."""

    exit_code = ExitCode.BROKEN

    def __init__(self, local: Path) -> None:
        super().__init__(
            f"another command is starting or stopping the stack in {local}",
            hint="wait for it to end, or give this one a folder of its own: COATCHECK_LOCAL",
        )


@contextmanager
def exclusive(project: Project) -> Iterator[None]:
    """Hold the stack for one command; the lock goes with the process, however it ends. Raises StackIsBusy."""
    project.local.mkdir(parents=True, exist_ok=True)
    with (project.local / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackIsBusy(project.local) from None
        yield


def read_state(project: Project) -> State:
    """The recorded state; an empty one if there is none, or one that a version of another shape wrote."""
    try:
        return msgspec.json.decode(_state_file(project).read_bytes(), type=State)
    except (FileNotFoundError, msgspec.DecodeError):
        return State()


def write_state(project: Project, state: State) -> None:
    _write(_state_file(project), state)


def read_stack(project: Project) -> Stack | None:
    """The running stack as `up` left it, None if it is not up."""
    try:
        return msgspec.json.decode(project.stack_file.read_bytes(), type=Stack)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_stack(project: Project, stack: Stack) -> None:
    _write(project.stack_file, stack)


def _state_file(project: Project) -> Path:
    return project.local / "state.json"


def _write(file: Path, value: State | Stack) -> None:
    """Written aside and moved, so that a reader sees the old file or the new one; for the owner's eyes: it has keys."""
    aside = file.with_suffix(".new")
    aside.touch(mode=0o600)
    aside.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    aside.rename(file)
