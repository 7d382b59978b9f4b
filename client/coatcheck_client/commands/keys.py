"""keys create, list, revoke: who may use the API."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from coatcheck_client import keys
from coatcheck_client.commands.options import Stage
from coatcheck_client.deployment import LOCAL, find_deployment

_console = Console(highlight=False)
_SHOWN_ID = 12

app = typer.Typer(no_args_is_help=True, help="API keys: make, list and revoke them.")


@app.command()
def create(
    tenant: Annotated[str, typer.Argument(help="Whose key it is; its jobs are seen by this tenant alone.")],
    stage: Stage = LOCAL,
) -> None:
    """Make a key and print it. It is stored as a hash: nobody can show it again."""
    text = keys.new_key_text()
    keys.create(find_deployment(stage), tenant, text, now=datetime.now(UTC))
    print(text)  # noqa: T201 (this is the output, and nothing else is, so that a script can take it)


@app.command(name="list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's keys.")] = None,
    stage: Stage = LOCAL,
) -> None:
    """Show all keys by their ids and last four characters."""
    table = Table("id", "tenant", "ends in", "created (UTC)", box=None)
    for key in sorted(keys.stored(find_deployment(stage), tenant), key=lambda key: (key.tenant, key.created_at)):
        table.add_row(key.id[:_SHOWN_ID], key.tenant, key.last4, f"{key.created_at:%Y-%m-%d %H:%M:%S}")
    _console.print(table)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="The key itself, or its id as `list` shows it.")],
    stage: Stage = LOCAL,
) -> None:
    """Take a key back. Answers that are cached let it work for up to a minute more."""
    revoked = keys.revoke(find_deployment(stage), key)
    _console.print(f"revoked the key of {revoked.tenant} that ends in {revoked.last4}")
