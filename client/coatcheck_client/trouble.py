"""What goes wrong and the user can do something about: a message, a hint, and the command's exit code."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    DONE = 0
    JOB_FAILED = 1
    """The job ended, but not in success; or the demo's proof did not hold."""

    USAGE = 2
    NOT_RUNNING = 3
    """Nothing to talk to: no local stack, no such deployment, an address that does not answer."""

    REFUSED = 4
    """The API answered with a problem."""

    BROKEN = 5
    """A part of the local stack could not be started or deployed; a log says why."""

    INTERRUPTED = 130


class Trouble(Exception):
    """Ends a command with a message and an exit code, without a traceback. The client raises nothing else."""

    exit_code = ExitCode.BROKEN
    passes = False
    """Whether another try may help."""

    retry_after: float | None = None
    """For how many seconds the API asks to wait before one."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(message)


class Unreachable(Trouble):
    """There is nothing to talk to at that address, or the connection broke before the answer was whole."""

    exit_code = ExitCode.NOT_RUNNING
    passes = True
