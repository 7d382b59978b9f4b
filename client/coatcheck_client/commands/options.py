"""Options that several commands share, and what they select."""

from typing import Annotated

import typer

from coatcheck_client.client import Coatcheck
from coatcheck_client.deployment import LOCAL, find_deployment, running_stack
from coatcheck_client.local.record import Stack
from coatcheck_client.trouble import ExitCode, Trouble

Stage = Annotated[
    str, typer.Option(envvar="COATCHECK_STAGE", help="Which deployment: 'local', or a stage deployed to AWS.")
]
ApiUrl = Annotated[
    str | None, typer.Option(envvar="COATCHECK_API_URL", help="The API's address, instead of looking it up.")
]
ApiKey = Annotated[str | None, typer.Option(envvar="COATCHECK_API_KEY", help="The API key to use.")]
Tenant = Annotated[
    str | None, typer.Option(help="On the local stack: use this tenant's key (default: the first of its tenants).")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


PATIENCE_SECONDS = 20.0
"""For so long a command waits for an API that does not answer."""


class UnknownTenant(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, tenant: str, stack: Stack) -> None:
        super().__init__(
            f"the local stack has no key of the tenant {tenant!r}",
            hint=f"it has: {', '.join(key.tenant for key in stack.tenants)}",
        )


class KeyMissing(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self) -> None:
        super().__init__(
            "an API key is needed", hint="--api-key or COATCHECK_API_KEY; `coatcheck keys create` makes one"
        )


def client_of(*, stage: str, url: str | None, key: str | None, tenant: str | None) -> Coatcheck:
    """The client with a key: as given, else the local stack's, else that of the stage. Raises Trouble."""
    if stage == LOCAL and not (url and key):
        stack = running_stack()
        url, key = url or stack.api_url, key or _key_of(stack, tenant)
    if not key:
        raise KeyMissing
    return Coatcheck(url or find_deployment(stage).output("ApiUrl"), key, patience=PATIENCE_SECONDS)


def _key_of(stack: Stack, tenant: str | None) -> str:
    for known in stack.tenants:
        if tenant in (None, known.tenant):
            return known.api_key
    raise UnknownTenant(tenant or "", stack)
