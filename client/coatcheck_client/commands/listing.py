"""jobs: a list of the tenant's jobs through the HTTP API."""

import sys
from typing import Annotated

import typer

from coatcheck_client.commands.options import ApiKey, ApiUrl, Json, Stage, Tenant, client_of
from coatcheck_client.deployment import LOCAL
from coatcheck_client.trouble import ExitCode, Trouble


class BadLabel(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self) -> None:
        super().__init__("--label takes NAME:VALUE, each name once", hint="such as --label team:tax")


def jobs(
    state: Annotated[list[str] | None, typer.Option(help="Only jobs in this state; repeat it for several.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only jobs of this kind; repeat it for several.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME:VALUE", help="Only jobs with this label; repeated: with all.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most jobs to show.")] = 20,
    json: Json = False,
    stage: Stage = LOCAL,
    api_url: ApiUrl = None,
    api_key: ApiKey = None,
    tenant: Tenant = None,
) -> None:
    """List jobs, newest first."""
    from coatcheck_client.job_list import print_json, print_lines, print_table

    with client_of(stage=stage, url=api_url, key=api_key, tenant=tenant) as client:
        found = client.jobs(states=state or (), kinds=kind or (), labels=parsed_labels(label or []), most=limit)
        if json:
            print_json(found)
        elif sys.stdout.isatty():
            print_table(found)
        else:
            print_lines(found)


def parsed_labels(texts: list[str]) -> dict[str, str]:
    """Labels of the command line. Raises BadLabel."""
    labels = dict(text.split(":", 1) for text in texts if ":" in text)
    if len(labels) < len(texts):
        raise BadLabel
    return labels
