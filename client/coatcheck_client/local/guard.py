"""A watcher in a process of its own: when its owner ends, however it ends, it stops what it was told to watch."""

import json
import subprocess
import sys
from dataclasses import asdict
from types import TracebackType
from typing import Self

from coatcheck_client.local.process import Process, stop

_RELEASE = "release"


class Guard:
    """Stops the watched processes when the block ends, the owner crashes or is killed; unless they were released.

    The watcher reads a pipe whose other end only the owner holds. The end of the pipe is the end of the owner,
    so one path serves success, Ctrl-C and SIGKILL.
    """

    def __init__(self) -> None:
        self._watcher = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def watch(self, process: Process) -> None:
        self._say(json.dumps(asdict(process)))

    def release(self) -> None:
        """Let everything that was watched so far live on."""
        self._say(_RELEASE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watcher.stdin:
            self._watcher.stdin.close()
        self._watcher.wait()

    def _say(self, line: str) -> None:
        if self._watcher.stdin:
            self._watcher.stdin.write(line + "\n")
            self._watcher.stdin.flush()


def main() -> None:
    watched: list[Process] = []
    for line in sys.stdin:
        if line.strip() == _RELEASE:
            watched.clear()
        else:
            watched.append(Process(**json.loads(line)))
    for process in reversed(watched):
        stop(process)


if __name__ == "__main__":
    main()
