"""A local stack of the benchmarks' own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.stack import down, up
from coatcheck_client.project import find_project
from tests.e2e.live import LiveStack

TENANT = "bharat-bazaar"


@contextmanager
def live_stack() -> Iterator[LiveStack]:
    """Deployed into a temporary folder, and stopped at the end."""
    with TemporaryDirectory(prefix="coatcheck-bench-", ignore_cleanup_errors=True) as name, Guard() as guard:
        project = find_project(Path(name))
        stack, _ = up(project, guard=guard, say=print, scale=1000)
        yield LiveStack(project=project, stack=stack, guard=guard)
        down(project)
