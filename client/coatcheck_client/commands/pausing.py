"""pause, resume: hold jobs back and let them go on."""

from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from coatcheck_client import pauses
from coatcheck_client.commands.operating import supervisor_round
from coatcheck_client.commands.options import Json, Stage
from coatcheck_client.deployment import LOCAL, find_deployment
from coatcheck_client.pauses import Pauses, Scope

_console = Console(highlight=False, markup=False, soft_wrap=True)
_errors = Console(highlight=False, markup=False, stderr=True, soft_wrap=True)


def pause(
    scope: Annotated[Scope | None, typer.Argument(help="What to pause (default: show what is paused).")] = None,
    name: Annotated[str | None, typer.Argument(help="Its name, such as gst-export, bulk or acme.")] = None,
    json: Json = False,
    stage: Stage = LOCAL,
) -> None:
    """Start no more jobs of a kind, lane or tenant, within 5 seconds. Those that run go on; new ones are accepted."""
    deployment = find_deployment(stage)
    if scope is None:
        _show(pauses.paused(deployment), json=json)
        return
    if name is None:
        raise typer.BadParameter(f"which {scope}? give its name", param_hint="NAME")
    _show(pauses.pause(deployment, scope, name), json=json)


def resume(
    scope: Annotated[Scope, typer.Argument(help="What to resume.")],
    name: Annotated[str, typer.Argument(help="Its name, such as gst-export, bulk or acme.")],
    stage: Stage = LOCAL,
) -> None:
    """Let the jobs of a kind, lane or tenant go on, those that wait the longest first."""
    deployment = find_deployment(stage)
    waited = pauses.resume(deployment, scope, name).waiting(scope, name)
    supervisor_round(deployment)
    waiting = pauses.paused(deployment).waiting(scope, name)
    rest = f"; {waiting} follow, round by round" if waiting else ""
    _errors.print(f"the {scope} {name} goes on: jobs woken: {max(0, waited - waiting)}{rest}")


def _show(known: Pauses, *, json: bool) -> None:
    if json:
        print(msgspec.json.encode(known).decode())  # noqa: T201 (the command's output)
        return
    table = Table("what", "name", "since (UTC)", "by", "jobs that wait", box=None)
    for state, several in (("", known.held), ("resumed ", known.resumed)):
        for each in several:
            table.add_row(f"{state}{each.scope}", each.name, each.at[:19], each.by, str(each.jobs))
    if known.held or known.resumed:
        _console.print(table)
    _errors.print(f"{len(known.held)} paused")
