"""dlq list, show, redrive, purge: jobs that have failed for good, and what to do about them."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

from coatcheck_client.commands.options import Json, Stage
from coatcheck_client.dead_letters import (
    BATCH,
    HOLD_SECONDS,
    ByJob,
    DeadLetter,
    DeadLetterQueue,
    Redriven,
    Wanted,
    all_of,
    batches,
    looked_at,
    note_purge,
    redrive,
)
from coatcheck_client.deployment import LOCAL, Deployment, find_deployment
from coatcheck_client.trouble import ExitCode, Trouble

_console = Console(highlight=False, markup=False, soft_wrap=True)
_errors = Console(highlight=False, markup=False, stderr=True, soft_wrap=True)

JOB_ID_LENGTH = 28

app = typer.Typer(no_args_is_help=True, help="Dead letters: jobs that have failed for good; look, try again, purge.")

Jobs = Annotated[list[str] | None, typer.Argument(help="Ids of jobs (default: every job that has a letter).")]
Kind = Annotated[str | None, typer.Option(help="Only jobs of this kind.")]
Tenant = Annotated[str | None, typer.Option(help="Only jobs of this tenant.")]
Error = Annotated[str | None, typer.Option(help="Only jobs that failed so, such as timed_out.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say how many it would be, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]


class NoLetter(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, job_id: str) -> None:
        super().__init__(
            f"there is no dead letter of {job_id}", hint="somebody may be at work on it: try again in 5 minutes"
        )


@app.command(name="list")
def list_(
    kind: Kind = None, tenant: Tenant = None, error: Error = None, json: Json = False, stage: Stage = LOCAL
) -> None:
    """Show the jobs that have a dead letter, one line each."""
    with _selected(DeadLetterQueue(find_deployment(stage)), Wanted(kind=kind, tenant=tenant, error=error)) as letters:
        newest = sorted((several[-1] for several in letters.values()), key=lambda letter: letter.failed_at)
        messages = len(all_of(letters))
    if json:
        for letter in newest:
            print(msgspec.json.encode(_shown(letter)).decode())  # noqa: T201 (the command's output)
        return
    job = Column("job", no_wrap=True, min_width=JOB_ID_LENGTH)  # it is what the other commands want
    table = Table(job, "tenant", "kind", "failures", "error", "failed at (UTC)", box=None)
    for letter in newest:
        table.add_row(
            letter.job_id or "(no dead letter)",
            letter.tenant,
            letter.kind,
            str(letter.failures),
            letter.error_type,
            letter.failed_at[:19],
        )
    if newest:
        _console.print(table)
    _errors.print(f"{_counted(len(newest), 'job')}, {_counted(messages, 'message')}")


@app.command()
def show(job: Annotated[str, typer.Argument(help="The job's id.")], stage: Stage = LOCAL) -> None:
    """Show one job's dead letter, its status and its history, as JSON."""
    deployment = find_deployment(stage)
    with _selected(DeadLetterQueue(deployment), Wanted(job_ids=frozenset({job}))) as letters:
        found = all_of(letters)
    if not found:
        raise NoLetter(job)
    known = {"letter": _shown(found[0]), **looked_at(deployment, job)}
    print(msgspec.json.format(msgspec.json.encode(known)).decode())  # noqa: T201 (the command's output)


@app.command(name="redrive")
def redrive_(
    jobs: Jobs = None,
    kind: Kind = None,
    tenant: Tenant = None,
    error: Error = None,
    per_second: Annotated[float, typer.Option(min=0.1, help="The most jobs to try again in a second.")] = 10.0,
    dry_run: DryRun = False,
    yes: Yes = False,
    stage: Stage = LOCAL,
) -> None:
    """Try jobs again, each as one new job that goes on from the old one's checkpoint.

    The letter of a job that is tried again is deleted; one that cannot be tried again stays in the queue.
    """
    deployment = find_deployment(stage)
    queue = DeadLetterQueue(deployment)
    wanted = Wanted(job_ids=frozenset(jobs or ()), kind=kind, tenant=tenant, error=error)
    with _selected(queue, wanted) as meant:
        _check_found(jobs, meant)
        if dry_run or not meant:
            _count("would be tried again", meant)
            return
        if not (yes or wanted != Wanted() or typer.confirm(f"Try all {len(meant)} jobs again?")):
            return
        done = _redriven(deployment, queue, meant, per_second)
    refused = sum(answer.retried_as is None for answer in done)
    _errors.print(f"tried again: {_counted(len(done) - refused, 'job')}; refused, and still in the queue: {refused}")
    if refused:
        raise typer.Exit(ExitCode.REFUSED)


def _redriven(deployment: Deployment, queue: DeadLetterQueue, meant: ByJob, per_second: float) -> list[Redriven]:
    """Try jobs again at a pace, and tell of each. Letters of those that are tried again are gone, others are left."""
    done: list[Redriven] = []
    job_ids = [job_id for job_id in meant if job_id]
    held_at = time.monotonic()
    with Progress(console=_errors, disable=not _errors.is_terminal) as progress:
        task = progress.add_task("trying again", total=len(job_ids))
        for batch in batches(job_ids, max(1, min(BATCH, int(per_second)))):
            due = time.monotonic() + len(batch) / per_second
            for answer in redrive(deployment, batch):
                if answer.retried_as is not None:
                    queue.throw_away(meant.pop(answer.job_id))
                done.append(answer)
                _console.print(answer.job_id, _became(answer))
            progress.advance(task, len(batch))
            if time.monotonic() - held_at > HOLD_SECONDS / 3:
                queue.hold(all_of(meant))
                held_at = time.monotonic()
            if len(done) < len(job_ids):
                time.sleep(max(0.0, due - time.monotonic()))  # the pace that was asked for
    return done


@app.command()
def purge(
    jobs: Jobs = None,
    kind: Kind = None,
    tenant: Tenant = None,
    error: Error = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    stage: Stage = LOCAL,
) -> None:
    """Throw dead letters away. The jobs stay as they are, and can still be tried again by their ids over the API."""
    deployment = find_deployment(stage)
    queue = DeadLetterQueue(deployment)
    with _selected(queue, Wanted(job_ids=frozenset(jobs or ()), kind=kind, tenant=tenant, error=error)) as meant:
        _check_found(jobs, meant)
        _count("would be thrown away" if dry_run else "to throw away", meant)
        if dry_run or not meant or not (yes or typer.confirm("Throw them away?")):
            return
        letters = all_of(meant)
        note_purge(deployment, [job_id for job_id in meant if job_id])
        queue.throw_away(letters)
        meant.clear()
    _errors.print(f"thrown away: {_counted(len(letters), 'message')}")


def _check_found(jobs: list[str] | None, meant: ByJob) -> None:
    """Raises NoLetter if there is none of any of the jobs that were named."""
    if jobs and not meant:
        raise NoLetter(", ".join(jobs))


@contextmanager
def _selected(queue: DeadLetterQueue, wanted: Wanted) -> Iterator[ByJob]:
    with ExitStack() as stack:
        with Progress(console=_errors, disable=not _errors.is_terminal, transient=True) as progress:
            task = progress.add_task("reading", total=queue.count() or None)
            selected = queue.selected(wanted, lambda number: progress.update(task, completed=number))
            letters = stack.enter_context(selected)
        yield letters


def _count(what: str, letters: ByJob) -> None:
    _errors.print(f"{what}: {_counted(len(letters), 'job')}, {_counted(len(all_of(letters)), 'message')}")
    sorts = Counter((several[-1].kind, several[-1].error_type) for several in letters.values())
    for (kind, error), number in sorts.most_common():
        _errors.print(f"  {number:6,}  {kind}  {error}")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _became(answer: Redriven) -> str:
    if answer.retried_as is None:
        return f"is not tried again: {answer.refused}"
    at = f" at {answer.resumes_at:,}" if answer.resumes_at else ""
    start = "starts at zero" if answer.resumes_at is None else f"goes on from the checkpoint{at}"
    return f"is now {answer.retried_as}, which {start}"


def _shown(letter: DeadLetter) -> dict[str, object]:
    return {
        name: value for name, value in asdict(letter).items() if name not in {"receipt", "body"} or not letter.job_id
    }
