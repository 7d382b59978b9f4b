"""Where things lie: the checkout with the application, and the folder with the local stack's state."""

import os
from dataclasses import dataclass
from pathlib import Path

from coatcheck_client.trouble import ExitCode, Trouble


class NoProject(Trouble):
    """The local stack deploys the application's sources, and there are none here."""

    exit_code = ExitCode.USAGE

    def __init__(self, start: Path) -> None:
        super().__init__(
            f"no checkout of Coatcheck (a folder with cdk.json and app.py) at or above {start}",
            hint="change into the checkout, or work against a deployment: --stage, --api-url",
        )


@dataclass(frozen=True, kw_only=True)
class Project:
    """A checkout, and the folder for the state of one local stack."""

    root: Path
    local: Path

    @property
    def stack_file(self) -> Path:
        return self.local / "stack.json"

    @property
    def logs(self) -> Path:
        return self.local / "logs"


def find_project(local: Path | None = None) -> Project:
    """The checkout around the working directory, else the one this package is installed from.

    `local` (else the environment's COATCHECK_LOCAL, else `.local` in the checkout) holds the stack's state,
    so that several stacks of one checkout can run side by side.
    """
    start = Path.cwd()
    installed_from = Path(__file__).resolve().parents[2]
    for folder in (start, *start.parents, installed_from):
        if (folder / "cdk.json").is_file() and (folder / "app.py").is_file():
            chosen = local or Path(os.environ.get("COATCHECK_LOCAL") or folder / ".local")
            return Project(root=folder, local=chosen.absolute())
    raise NoProject(start)
