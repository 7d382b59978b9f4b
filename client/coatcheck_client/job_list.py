"""How a list of jobs is shown: a table on a terminal, plain lines or JSON elsewhere."""

from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coatcheck_client.display import COLOURS, note
from coatcheck_client.job import Job


def print_table(jobs: Iterable[Job], console: Console | None = None) -> None:
    table = Table("id", "kind", "state", "progress", "created (UTC)", "", box=None)
    for job in jobs:
        state = f"[{COLOURS.get(job.state, 'cyan')}]{escape(job.state)}[/]"
        table.add_row(
            job.id, escape(job.kind), state, _percent(job), f"{job.created_at:%Y-%m-%d %H:%M:%S}", escape(note(job))
        )
    (console or Console(highlight=False)).print(table)


def print_lines(jobs: Iterable[Job]) -> None:
    """A line for each job, printed as soon as its page is there."""
    for job in jobs:
        words = [job.id, job.kind, job.state, f"{job.created_at:%Y-%m-%dT%H:%M:%SZ}", _percent(job), note(job)]
        print(" ".join(word for word in words if word), flush=True)  # noqa: T201 (this is the output)


def print_json(jobs: Iterable[Job]) -> None:
    """A status document for each line, for programs."""
    for job in jobs:
        print(msgspec.json.encode(job.document).decode(), flush=True)  # noqa: T201 (this is the output)


def _percent(job: Job) -> str:
    return "" if job.progress.percent is None else f"{job.progress.percent}%"
