"""submit, watch, cancel, retry, download, status: jobs through the HTTP API."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from coatcheck_client.client import Coatcheck, new_key
from coatcheck_client.commands.listing import parsed_labels
from coatcheck_client.commands.options import ApiKey, ApiUrl, Json, Stage, Tenant, client_of
from coatcheck_client.commands.stack import show_deployment, show_stack
from coatcheck_client.deployment import LOCAL
from coatcheck_client.job import Job
from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

_console = Console(highlight=False)

JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id, j_…")]


class BadArgs(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, why: str) -> None:
        super().__init__(f"--args {why}", hint="give JSON, @FILE for a file, or - for standard input")


class BadTime(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, text: str) -> None:
        super().__init__(f"--run-at {text} is no time", hint="give RFC 3339, such as 2026-11-30T06:00:00+05:30")


def submit(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to run, such as gst-export.")],
    args: Annotated[str, typer.Option(help="The job's args: JSON, @FILE, or - for standard input.")] = "{}",
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key makes one job.")] = None,
    lane: Annotated[
        str | None, typer.Option(help="One of the deployment's lanes: interactive, bulk, … (default: the kind's).")
    ] = None,
    run_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not before this time, such as 2026-11-30T06:00:00+05:30.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME:VALUE", help="A label to find it by; repeat it for several.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Hand in a job and print its ticket."""
    key = new_key() if key is None else key
    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
        try:
            job = client.submit(
                kind,
                parsed_args(args),
                key=key,
                lane=lane,
                run_at=_time(run_at),
                labels=parsed_labels(label or []) or None,
            )
        except Unreachable as trouble:
            trouble.hint = f"it may have been accepted all the same: repeat it with --key {key}"
            raise
        if not json:
            replayed = ", the same job as before" if job.replayed else ""
            _console.print(
                f"{job.id} {job.state}{replayed}\nits key is {key}: with --key the same command is the same job"
            )
        if watch:
            _follow(client, job.id, json=json)
        elif json:
            _print_document(job)
        else:
            _console.print(f"follow it with `coatcheck watch {job.id}`")


def cancel(
    job: JobId,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Cancel a job: at once if it waits; a worker is asked to stop."""
    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
        _print_ticket(client.cancel(job), json=json)


def retry(
    job: JobId,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Try a job again that failed or was cancelled, as one new job; asked again, it is the same one."""
    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
        _print_ticket(client.retry(job), json=json)


def watch(
    job: JobId,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Follow a job until it ends; exits with 1 if it did not succeed."""
    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
        _follow(client, job, json=json)


def download(
    job: JobId,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; it appears when it is whole.")],
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Save a job's result as a file."""
    from coatcheck_client.display import bytes_bar

    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client, bytes_bar(_console) as show:
        size = client.download(client.job(job), file, show=show)
    _console.print(f"{file}: {size:,} bytes", soft_wrap=True)


def status(
    job: Annotated[str | None, typer.Argument(metavar="[JOB]", help="A job's id; without one: the stack.")] = None,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """A job's status document as JSON; without a job, what the local stack is doing or where a stage's is."""
    if job is not None:
        with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
            _print_document(client.job(job))
    elif stage == LOCAL:
        show_stack()
    else:
        show_deployment(stage)


def _print_ticket(job: Job, *, json: bool) -> None:
    if json:
        _print_document(job)
    else:
        _console.print(f"{job.id} {job.state}")


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else msgspec.convert(text, datetime)
    except msgspec.ValidationError as error:
        raise BadTime(text or "") from error


def parsed_args(text: str) -> Any:
    """What --args gives: JSON, `@FILE`, or `-` for standard input. Raises BadArgs."""
    try:
        return msgspec.json.decode(_read(text))
    except msgspec.DecodeError as error:
        raise BadArgs(f"is not JSON: {error}") from error


def _read(text: str) -> str | bytes:
    if text == "-":
        return sys.stdin.buffer.read()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise BadArgs(f"names a file that cannot be read: {text[1:]}: {error.strerror}") from error


def _follow(client: Coatcheck, job_id: str, *, json: bool) -> None:
    from coatcheck_client.display import choose_display, followed

    job = followed(client, job_id, choose_display(json=json))
    if not json:
        _print_ending(client, job)
    if not job.succeeded:
        raise typer.Exit(ExitCode.JOB_FAILED)


def _print_ending(client: Coatcheck, job: Job) -> None:
    if job.error:
        _console.print(f"[red]{escape(job.error.type)}[/]: {escape(job.error.message)}", soft_wrap=True)
    if job.result:
        size = "" if job.result.bytes is None else f", {job.result.bytes:,} bytes"
        rows = "" if job.result.rows is None else f", {job.result.rows:,} rows"
        _console.print(f"result: {client.api.address(job.result.url or '/')}{rows}{size}", soft_wrap=True)


def _print_document(job: Job) -> None:
    print(msgspec.json.format(msgspec.json.encode(job.document), indent=2).decode())  # noqa: T201 (this is the output)
