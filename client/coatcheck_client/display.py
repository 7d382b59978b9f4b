"""How a job's progress is shown: a live bar on a terminal, plain lines or JSON elsewhere."""

import sys
from typing import Protocol, Self

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from coatcheck_client.api import Document

COLOURS = {"succeeded": "green", "failed": "red", "cancelled": "yellow"}


class Display(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, document: Document) -> None: ...


class LiveBar:
    """A bar that moves in place."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[state]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[count]}"),
            TextColumn("{task.fields[stage]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("", total=None, state="", count="", stage="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, document: Document) -> None:
        progress = document.get("progress") or {}
        state = document["state"]
        self._progress.update(
            self._task,
            completed=progress.get("done") or 0,
            total=progress.get("total"),
            state=f"[{COLOURS.get(state, 'cyan')}]{state}[/]",
            count=_count(progress),
            stage=note(document),
        )


class PlainLines:
    """A line for each change, for logs and pipes."""

    def __init__(self) -> None:
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, document: Document) -> None:
        progress = document.get("progress") or {}
        words = [document["id"], document["state"]]
        if progress.get("total"):
            words.append(f"{progress.get('percent', 0)} % ({_count(progress)})")
        line = " ".join([*words, note(document)]).rstrip()
        if line != self._last:
            print(line, flush=True)  # noqa: T201 (this is the output)
            self._last = line


class JsonLines(PlainLines):
    """The status document, one line for each change, for programs."""

    def show(self, document: Document) -> None:
        line = msgspec.json.encode(document).decode()
        if line != self._last:
            print(line, flush=True)  # noqa: T201 (this is the output)
            self._last = line


def choose_display(*, json: bool) -> Display:
    if json:
        return JsonLines()
    return LiveBar(Console()) if sys.stdout.isatty() else PlainLines()


def _count(progress: Document) -> str:
    total = progress.get("total")
    return f"{progress.get('done') or 0:,} of {total:,}" if total else ""


def note(document: Document) -> str:
    """What is worth saying beside the numbers: the stage, why it waits, which attempt it is."""
    progress = document.get("progress") or {}
    attempt = document.get("attempt", 1)
    notes = [progress.get("stage"), document.get("reason"), f"attempt {attempt}" if attempt > 1 else None]
    return ", ".join(str(note) for note in notes if note)
