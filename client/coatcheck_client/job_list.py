"""How a list of jobs is shown: a table on a terminal, plain lines or JSON elsewhere."""

from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coatcheck_client.api import Document
from coatcheck_client.display import COLOURS, note


def print_table(jobs: Iterable[Document], console: Console | None = None) -> None:
    table = Table("id", "kind", "state", "progress", "created (UTC)", "", box=None)
    for job in jobs:
        state = job["state"]
        coloured = f"[{COLOURS.get(state, 'cyan')}]{escape(state)}[/]"
        table.add_row(job["id"], escape(job["kind"]), coloured, _percent(job), _created(job), escape(note(job)))
    (console or Console(highlight=False)).print(table)


def print_lines(jobs: Iterable[Document]) -> None:
    """A line for each job, printed as soon as its page is there."""
    for job in jobs:
        words = [job["id"], job["kind"], job["state"], _created(job).replace(" ", "T") + "Z", _percent(job), note(job)]
        print(" ".join(word for word in words if word), flush=True)  # noqa: T201 (this is the output)


def print_json(jobs: Iterable[Document]) -> None:
    """A status document for each line, for programs."""
    for job in jobs:
        print(msgspec.json.encode(job).decode(), flush=True)  # noqa: T201 (this is the output)


def _percent(job: Document) -> str:
    percent = (job.get("progress") or {}).get("percent")
    return "" if percent is None else f"{percent}%"


def _created(job: Document) -> str:
    return str(job.get("created_at", ""))[:19].replace("T", " ")
