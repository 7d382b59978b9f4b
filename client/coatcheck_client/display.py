"""How a job's progress is shown: a live bar on a terminal, plain lines or JSON elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, Self

import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TransferSpeedColumn
from rich.progress import Progress as Bars

from coatcheck_client.client import Coatcheck
from coatcheck_client.download import Show
from coatcheck_client.job import Job, Progress, State

COLOURS = {State.SUCCEEDED: "green", State.FAILED: "red", State.CANCELLED: "yellow"}


class Display(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, job: Job) -> None: ...


class LiveBar:
    """A bar that moves in place."""

    def __init__(self, console: Console) -> None:
        self._progress = Bars(
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

    def show(self, job: Job) -> None:
        self._progress.update(
            self._task,
            completed=job.progress.done,
            total=job.progress.total,
            state=f"[{COLOURS.get(job.state, 'cyan')}]{job.state}[/]",
            count=_count(job.progress),
            stage=note(job),
        )


class PlainLines:
    """A line for each change, for logs and pipes."""

    def __init__(self) -> None:
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, job: Job) -> None:
        words: list[str] = [job.id, job.state]
        if job.progress.total:
            words.append(f"{job.progress.percent or 0} % ({_count(job.progress)})")
        line = " ".join([*words, note(job)]).rstrip()
        if line != self._last:
            print(line, flush=True)  # noqa: T201 (this is the output)
            self._last = line


class JsonLines(PlainLines):
    """The status document, one line for each change, for programs."""

    def show(self, job: Job) -> None:
        line = msgspec.json.encode(job.document).decode()
        if line != self._last:
            print(line, flush=True)  # noqa: T201 (this is the output)
            self._last = line


def choose_display(*, json: bool) -> Display:
    if json:
        return JsonLines()
    return LiveBar(Console()) if sys.stdout.isatty() else PlainLines()


def followed(client: Coatcheck, job_id: str, display: Display) -> Job:
    """Show the job until it is final; as it is then. Raises Refused, Unreachable."""
    with display:
        jobs = client.follow(job_id)
        display.show(job := next(jobs))
        for job in jobs:
            display.show(job)
    return job


@contextmanager
def bytes_bar(console: Console) -> Iterator[Show]:
    """A bar for a download, where there is a terminal; what it gives is told how many bytes have come, of how many."""
    with Bars(
        DownloadColumn(), BarColumn(), TransferSpeedColumn(), console=console, disable=not console.is_terminal
    ) as bars:
        task = bars.add_task("", total=None)
        yield lambda received, total: bars.update(task, completed=received, total=total)


def _count(progress: Progress) -> str:
    return f"{progress.done:,} of {progress.total:,}" if progress.total else ""


def note(job: Job) -> str:
    """What is worth saying beside the numbers: the stage, why it waits, which attempt it is."""
    notes = [job.progress.stage, job.reason, f"attempt {job.attempt}" if job.attempt > 1 else None]
    return ", ".join(note for note in notes if note)
