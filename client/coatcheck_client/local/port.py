"""Free ports of the loopback interface."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

LOOPBACK = "127.0.0.1"


@contextmanager
def reserved_port(preferred: int | None = None) -> Iterator[int]:
    """A free port for a server that listens there by the end of the block.

    Until then no other stack of this user chooses one, or two that start at once would find the same one free.
    """
    with (Path(gettempdir()) / f"coatcheck-ports-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield free_port(preferred)


def free_port(preferred: int | None = None) -> int:
    """The preferred port if nobody listens there, else one that the system picks."""
    for candidate in (preferred, 0):
        if candidate is None:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As servers do: a port whose last connections are still in TIME_WAIT is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, candidate))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on the loopback interface")


def answers(port: int) -> bool:
    """Whether something accepts connections there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0
