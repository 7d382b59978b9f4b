"""up, down: the local stack."""

from typing import Annotated

import typer
from rich.console import Console

from coatcheck_client.api import Api
from coatcheck_client.deployment import find_deployment
from coatcheck_client.local import stack as local_stack
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.record import Stack, read_stack
from coatcheck_client.project import Project, find_project
from coatcheck_client.refusal import accepted
from coatcheck_client.trouble import ExitCode

_console = Console(highlight=False)


def up(
    scale: Annotated[
        int | None, typer.Option(min=1, max=5_000_000, help="Invoices of seller 48812 (default: 1,000,000).")
    ] = None,
    rows_per_second: Annotated[
        int | None, typer.Option(min=0, help="Pace of a worker's reads; 0 reads as fast as it can (default).")
    ] = None,
) -> None:
    """Start the local AWS, its database and the application; leave them running.

    Does only what is needed: a second one on a healthy stack does nothing, one after a change of the code deploys it,
    one after a crash mends. Writes .local/stack.json with the addresses and an API key for each tenant.
    """
    project = find_project()
    with Guard() as guard:
        stack, changed = local_stack.up(
            project, guard=guard, say=_console.print, scale=scale, rows_per_second=rows_per_second
        )
        guard.release()
    _console.print("[green]up[/]" if changed else "[green]up[/] already, and nothing has changed")
    describe(project, stack)


def down() -> None:
    """Stop what `up` started. The marketplace's data stays for the next time."""
    stopped = local_stack.down(find_project())
    _console.print("stopped" if stopped else "nothing was running")


def describe(project: Project, stack: Stack) -> None:
    """Addresses, and a command to try."""
    first = stack.tenants[0]
    _console.print(f"  API       {stack.api_url}")
    _console.print(f"  AWS       {stack.aws_endpoint_url}")
    _console.print(f"  database  {stack.database_url}")
    _console.print(f"  tenants   {', '.join(key.tenant for key in stack.tenants)}; keys in {project.stack_file}")
    _console.print(f"  logs      {project.logs}, `coatcheck logs`")
    _console.print("try")
    _console.print(
        f"  curl -i {stack.api_url}/v1/jobs -H 'Authorization: Bearer {first.api_key}' "
        """-H 'Content-Type: application/json' -d '{"kind": "probe", "args": {"seconds": 5}}'""",
        soft_wrap=True,
    )


def show_stack() -> None:
    """What the local stack is doing. Raises NotRunning."""
    project = find_project()
    stack, health = read_stack(project), local_stack.health(project)
    for part, well in health.items():
        _console.print(f"{'[green]ok  [/]' if well else '[red]down[/]'} {part}")
    if stack and all(health.values()):
        describe(project, stack)
    else:
        _console.print("start or mend it with `coatcheck up`")
        raise typer.Exit(ExitCode.NOT_RUNNING)


def show_deployment(stage: str) -> None:
    """Where a stage's stack is and whether its API is well. Raises NotDeployed, Unreachable."""
    deployment = find_deployment(stage)
    with Api(deployment.output("ApiUrl")) as api:
        accepted(api.request("GET", "/v1/health"))
    _console.print(f"[green]ok  [/] {deployment.stack_name}")
    for name, value in sorted(deployment.outputs.items()):
        _console.print(f"  {name}  {value}", soft_wrap=True)
