"""One local stack for the end-to-end tests of a process: the real command's own machinery, in a folder of its own."""

import fcntl
import os
import shutil
from collections.abc import Iterator

import pytest

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.stack import down, up
from coatcheck_client.project import find_project
from tests.e2e.client import Client
from tests.e2e.live import LiveStack


@pytest.fixture(scope="session")
def live(worker_id: str) -> Iterator[LiveStack]:
    """The deployed application. A developer's own stack is not touched; logs are kept in .local/e2e/{process}/logs.

    The guard stops everything when this process ends, also when it is killed.
    """
    local = find_project().root / ".local" / "e2e" / worker_id
    project = find_project(local)
    local.mkdir(parents=True, exist_ok=True)
    with local.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs in one checkout take turns
        down(project)
        shutil.rmtree(local)
        with Guard() as guard:
            stack, _ = up(project, guard=guard, say=print)
            made = LiveStack(project=project, stack=stack, guard=guard)
            if (why := made.unfit()) is not None:
                pytest.exit(f"the emulator is unfit: {why}", returncode=pytest.ExitCode.INTERNAL_ERROR)
            yield made
        down(project)


@pytest.fixture(scope="session")
def client(live: LiveStack) -> Iterator[Client]:
    """The tenant that owns seller 48812."""
    with live.client("bharat-bazaar") as client:
        yield client


@pytest.fixture(scope="session")
def soak_seconds() -> float:
    """How long a test of `make soak` goes on."""
    return 60 * float(os.environ.get("SOAK_MINUTES", "10"))


@pytest.fixture(scope="session")
def stranger(live: LiveStack) -> Iterator[Client]:
    """Another tenant."""
    with live.client("coastal-crafts") as client:
        yield client
