"""The `coatcheck` command."""

import sys

import typer
from rich.console import Console

from coatcheck_client.commands import (
    alarming,
    demo,
    dlq,
    jobs,
    keys,
    listing,
    operating,
    pausing,
    planning,
    schedules,
    stack,
    tenants,
)
from coatcheck_client.trouble import Trouble, Unreachable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Coatcheck: hand in long-running jobs, follow them, and run the whole platform on this machine.",
)
app.command()(stack.up)
app.command()(stack.down)
app.command()(demo.demo)
app.command()(jobs.status)
app.command()(jobs.submit)
app.command()(jobs.watch)
app.command()(jobs.cancel)
app.command()(jobs.retry)
app.command()(jobs.download)
app.command()(listing.jobs)
app.add_typer(dlq.app, name="dlq")
app.add_typer(keys.app, name="keys")
app.add_typer(schedules.app, name="schedules")
app.add_typer(tenants.app, name="tenants")
app.command()(pausing.pause)
app.command()(pausing.resume)
app.command()(alarming.alarms)
app.command()(planning.plan)
app.command()(operating.supervise)
app.command()(operating.logs)


def main() -> None:
    """Run the command; trouble that the user can do something about is told without a traceback."""
    try:
        app()
    except Trouble as trouble:
        _tell(trouble)
    except Exception as error:
        if not type(error).__module__.startswith("botocore."):  # imported by the commands that talk to AWS alone
            raise
        _tell(Unreachable(f"AWS does not answer as it should: {error}", hint="is it up? `coatcheck status`"))


def _tell(trouble: Trouble) -> None:
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    errors.print(f"[red]error:[/] {_plain(str(trouble))}")
    if trouble.hint:
        errors.print(f"[yellow]hint:[/]  {_plain(trouble.hint)}")
    sys.exit(trouble.exit_code)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
