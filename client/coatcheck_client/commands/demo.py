"""demo: a seller's report, from POST to a file that is proven right."""

from typing import Annotated

import typer
from rich.console import Console

from coatcheck_client import marketplace
from coatcheck_client.client import Coatcheck, new_key
from coatcheck_client.commands.options import client_of
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
    from coatcheck_client.display import bytes_bar, choose_display, followed

    tenant = next(seller.tenant for seller in marketplace.SELLERS if seller.seller_id == marketplace.BIG_SELLER)
    key = new_key()
    with client_of(stage=LOCAL, url=None, key=None, tenant=tenant) as client:
        job = client.submit("gst-export", _ARGS, key=key)
        _console.print(f"POST /v1/jobs, Idempotency-Key: {key}\n  202 {job.links.self}")
        again = client.submit("gst-export", _ARGS, key=key)
        if again.id != job.id:
            raise NotProven(f"the same key made a second job: {again.id} beside {job.id}")
        _console.print("once more with the same key\n  202 the same job")
        job = followed(client, job.id, choose_display(json=False))
        if not job.succeeded or job.result is None:
            raise NotProven(f"the job ended as {job.state}: {job.error}")
        _show_redirects(client, job.links.self)
        file = project.local / "demo" / f"{job.id}.csv.gz"
        with bytes_bar(_console) as show:
            size = client.download(job, file, show=show)
    found = file_totals(file)
    expected = source_totals(stack.database_url, marketplace.BIG_SELLER, marketplace.PERIOD)
    _show(found, expected)
    if found != expected or found.rows != job.result.rows:
        raise NotProven("the file and the database do not agree")
    _console.print(f"[green]proven[/]: {found.rows:,} rows, every total to the paisa, gzip intact, {size:,} bytes")
    _console.print(f"  {file}", soft_wrap=True)


def _show_redirects(client: Coatcheck, link: str) -> None:
    """Where the file is: from the job to its result to the presigned link."""
    for _ in range(2):
        answer = client.api.request("GET", link)
        if answer.status != 303:
            raise NotProven(f"GET {link} answers {answer.status}, not 303")
        _console.print(f"GET {link}\n  303 {answer.headers['location'].partition('?')[0]}", soft_wrap=True)
        link = answer.headers["location"]


def _show(found: Totals, expected: Totals) -> None:
    _console.print(f"{'':>14} {'in the file':>22} {'in the database':>22}")
    for name, in_file in found.items():
        in_database = dict(expected.items())[name]
        mark = "" if in_file == in_database else " [red]differs[/]"
        _console.print(f"{name:>14} {in_file:>22,} {in_database:>22,}{mark}")
