"""demo: a seller's report, from POST to a file that is proven right."""

import secrets
from typing import Annotated

import typer
from rich.console import Console

from coatcheck_client import marketplace
from coatcheck_client.api import Api
from coatcheck_client.commands.options import api_of
from coatcheck_client.deployment import LOCAL
from coatcheck_client.local import stack as local_stack
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.record import Stack
from coatcheck_client.project import Project, find_project
from coatcheck_client.proof import Totals, file_totals, source_totals
from coatcheck_client.trouble import ExitCode, Trouble

_console = Console(highlight=False)
_ARGS = {"seller_id": marketplace.BIG_SELLER, "period": marketplace.PERIOD}


class NotProven(Trouble):
    """The demo saw something else than it should have."""

    exit_code = ExitCode.JOB_FAILED


def demo(
    scale: Annotated[
        int | None, typer.Option(min=1, max=5_000_000, help="Invoices of seller 48812 (default: 1,000,000).")
    ] = None,
) -> None:
    """Export a seller's invoices on the local stack and prove the file against the database.

    Starts the stack if it is not up, and then also stops it.
    """
    project = find_project()
    was_up = all(local_stack.health(project).values())
    try:
        with Guard() as guard:
            stack, _ = local_stack.up(project, guard=guard, say=_console.print, scale=scale)
            if was_up:
                guard.release()
            _run(project, stack)
    finally:
        if not was_up:
            local_stack.down(project)
            _console.print("stopped what was started here; `coatcheck up` leaves it running")


def _run(project: Project, stack: Stack) -> None:
    from coatcheck_client.display import choose_display
    from coatcheck_client.watching import watch

    tenant = next(seller.tenant for seller in marketplace.SELLERS if seller.seller_id == marketplace.BIG_SELLER)
    key = f"demo-{secrets.token_hex(8)}"
    with api_of(stage=LOCAL, url=None, key=None, tenant=tenant) as api:
        accepted = api.submit("gst-export", _ARGS, key=key)
        job_id = accepted.document["id"]
        _console.print(f"POST /v1/jobs, Idempotency-Key: {key}\n  {accepted.status} {accepted.headers['location']}")
        again = api.submit("gst-export", _ARGS, key=key)
        if again.document["id"] != job_id:
            raise NotProven(f"the same key made a second job: {again.document['id']} beside {job_id}")
        _console.print(f"once more with the same key\n  {again.status} the same job")
        document = watch(api, job_id, choose_display(json=False))
        if document["state"] != "succeeded":
            raise NotProven(f"the job ended as {document['state']}: {document.get('error')}")
        link = _followed(api, job_id)
        file = project.local / "demo" / f"{job_id}.csv.gz"
        size = api.download(link, file)
    found = file_totals(file)
    expected = source_totals(stack.database_url, marketplace.BIG_SELLER, marketplace.PERIOD)
    _show(found, expected)
    if found != expected or found.rows != document["result"]["rows"]:
        raise NotProven("the file and the database do not agree")
    _console.print(f"[green]proven[/]: {found.rows:,} rows, every total to the paisa, gzip intact, {size:,} bytes")
    _console.print(f"  {file}", soft_wrap=True)


def _followed(api: Api, job_id: str) -> str:
    """Where the file is: from the job to its result to the presigned link, redirect by redirect."""
    path = f"/v1/jobs/{job_id}"
    for _ in range(2):
        answer = api.request("GET", path)
        if answer.status != 303:
            raise NotProven(f"GET {path} answers {answer.status}, not 303")
        link = answer.headers["location"]
        _console.print(f"GET {path}\n  303 {link.partition('?')[0]}", soft_wrap=True)
        path = link
    return path


def _show(found: Totals, expected: Totals) -> None:
    _console.print(f"{'':>14} {'in the file':>22} {'in the database':>22}")
    for name, in_file in found.items():
        in_database = dict(expected.items())[name]
        mark = "" if in_file == in_database else " [red]differs[/]"
        _console.print(f"{name:>14} {in_file:>22,} {in_database:>22,}{mark}")
