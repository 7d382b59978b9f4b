"""submit, watch, status: jobs through the HTTP API."""

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urljoin

import msgspec
import typer
from rich.console import Console

from coatcheck_client.api import Answer, Api, Document
from coatcheck_client.commands.options import ApiKey, ApiUrl, Json, Stage, Tenant, api_of
from coatcheck_client.commands.stack import show_stack
from coatcheck_client.deployment import LOCAL
from coatcheck_client.trouble import ExitCode, Trouble

_console = Console(highlight=False)
_SUCCEEDED = "succeeded"

JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id, j_…")]


class BadArgs(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, why: object) -> None:
        super().__init__(f"--args is not JSON: {why}", hint="give JSON, @file for a file, or - for standard input")


def submit(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to run, such as gst-export.")],
    args: Annotated[str, typer.Option(help="The job's args: JSON, @FILE, or - for standard input.")] = "{}",
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key makes one job.")] = None,
    lane: Annotated[str | None, typer.Option(help="interactive or bulk (default: the kind's).")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Hand in a job and print its ticket."""
    with api_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as api:
        answer = api.submit(kind, _parsed(args), key=key, lane=lane)
        if watch:
            _follow(api, answer.document["id"], json=json)
        else:
            _print_ticket(answer, json=json)


def watch(
    job: JobId,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """Follow a job until it ends; exits with 1 if it did not succeed."""
    with api_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as api:
        _follow(api, job, json=json)


def status(
    job: Annotated[str | None, typer.Argument(metavar="[JOB]", help="A job's id; without one: the stack.")] = None,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """A job's status document as JSON; without a job, what the local stack is doing."""
    if job is None:
        show_stack()
        return
    with api_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as api:
        _print_document(api.status(job).document)


def _parsed(text: str) -> Any:
    try:
        match text:
            case "-":
                return msgspec.json.decode(sys.stdin.buffer.read())
            case _ if text.startswith("@"):
                return msgspec.json.decode(Path(text[1:]).read_bytes())
            case _:
                return msgspec.json.decode(text)
    except (OSError, msgspec.DecodeError) as error:
        raise BadArgs(error) from error


def _follow(api: Api, job_id: str, *, json: bool) -> None:
    from coatcheck_client.display import choose_display
    from coatcheck_client.watching import watch as follow

    document = follow(api, job_id, choose_display(json=json))
    if not json:
        _print_ending(api, document)
    if document["state"] != _SUCCEEDED:
        raise typer.Exit(ExitCode.JOB_FAILED)


def _print_ticket(answer: Answer, *, json: bool) -> None:
    document = answer.document
    if json:
        _print_document(document)
        return
    replayed = ", the same job as before" if answer.headers.get("idempotent-replayed") == "true" else ""
    _console.print(f"{document['id']} {document['state']}{replayed}")
    _console.print(f"follow it with `coatcheck watch {document['id']}`")


def _print_ending(api: Api, document: Document) -> None:
    if error := document.get("error"):
        _console.print(f"[red]{error.get('type')}[/]: {error.get('message')}", soft_wrap=True)
    if result := document.get("result"):
        size = f", {result['bytes']:,} bytes" if "bytes" in result else ""
        rows = f", {result['rows']:,} rows" if "rows" in result else ""
        _console.print(f"result: {urljoin(api.url, result.get('url', ''))}{rows}{size}", soft_wrap=True)


def _print_document(document: Document) -> None:
    print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())  # noqa: T201 (this is the output)
