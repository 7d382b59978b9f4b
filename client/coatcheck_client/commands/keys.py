"""keys create, list, rotate, revoke: who may use the API."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from coatcheck_client import keys
from coatcheck_client.commands.options import Stage
from coatcheck_client.deployment import LOCAL, find_deployment

_console = Console(highlight=False)
_errors = Console(highlight=False, stderr=True, soft_wrap=True)
_SHOWN_ID = 12

app = typer.Typer(no_args_is_help=True, help="API keys: make, list, rotate and revoke them.")


@app.command()
def create(
    tenant: Annotated[str, typer.Argument(help="Whose key it is; its jobs are seen by this tenant alone.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What else it may do. act_as: name any tenant in the header Coatcheck-Tenant."),
    ] = None,
    stage: Stage = LOCAL,
) -> None:
    """Make a key and print it. It is stored as a hash: nobody can show it again."""
    text = keys.new_key_text()
    keys.create(find_deployment(stage), tenant, text, now=datetime.now(UTC), scopes=tuple(scope or ()))
    print(text)  # noqa: T201 (this is the output, and nothing else is, so that a script can take it)


@app.command(name="list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's keys.")] = None,
    stage: Stage = LOCAL,
) -> None:
    """Show all keys by their ids and last four characters."""
    table = Table("id", "tenant", "ends in", "created (UTC)", "scopes", box=None)
    for key in sorted(keys.stored(find_deployment(stage), tenant), key=lambda key: (key.tenant, key.created_at)):
        created = f"{key.created_at:%Y-%m-%d %H:%M:%S}"
        table.add_row(key.id[:_SHOWN_ID], key.tenant, key.last4, created, " ".join(key.scopes))
    _console.print(table)


@app.command()
def rotate(
    key: Annotated[str, typer.Argument(help="The key itself, or its id as `list` shows it.")],
    stage: Stage = LOCAL,
) -> None:
    """Make a second key like this one and print it. Both work until the old one is revoked."""
    text = keys.new_key_text()
    old, _ = keys.rotate(find_deployment(stage), key, text, now=datetime.now(UTC))
    print(text)  # noqa: T201 (this is the output, and nothing else is, so that a script can take it)
    _errors.print(
        f"the key of {old.tenant} that ends in {old.last4} works, too: once nobody uses it, "
        f"coatcheck keys revoke {old.id[:_SHOWN_ID]}"
    )


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="The key itself, or its id as `list` shows it.")],
    stage: Stage = LOCAL,
) -> None:
    """Take a key back. Answers that are cached let it work for up to a minute more."""
    revoked = keys.revoke(find_deployment(stage), key)
    _console.print(f"revoked the key of {revoked.tenant} that ends in {revoked.last4}")
