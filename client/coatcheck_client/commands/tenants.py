"""tenants list, show, set, reset: what each tenant may and has."""

from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from coatcheck.tenant_limits import TenantLimits, told_limits
from coatcheck_client import tenants
from coatcheck_client.commands.options import Json, Stage
from coatcheck_client.deployment import LOCAL, Deployment, find_deployment
from coatcheck_client.tenants import Known, Tenant

_console = Console(highlight=False, markup=False, soft_wrap=True)
_errors = Console(highlight=False, markup=False, stderr=True, soft_wrap=True)

app = typer.Typer(no_args_is_help=True, help="Tenants: what each may and has. What the limits mean: docs/limits.md.")

Name = Annotated[str, typer.Argument(metavar="TENANT", help="Whose limits they are.")]


@app.command(name="list")
def list_(json: Json = False, stage: Stage = LOCAL) -> None:
    """Show all tenants, those with the most open jobs first, and which limits they have of their own."""
    deployment = find_deployment(stage)
    known, own = tenants.look(deployment), tenants.own_limits(deployment)
    names = sorted(own.keys() | known.open_jobs.keys(), key=lambda name: (-known.open_jobs.get(name, 0), name))
    if json:
        counted = {name: {"open_jobs": count} for name, count in known.open_jobs.items()}
        told = [
            {"tenant": name, **counted.get(name, {}), "limits": told_limits(own.get(name, TenantLimits()))}
            for name in names
        ]
        print(msgspec.json.encode({"stage": told_limits(known.stage), "tenants": told}).decode())  # noqa: T201
        return
    table = Table("tenant", "open jobs", "a second", "burst", "most open", "caps", box=None)
    table.add_row("(everybody)", "", *_row(known.stage))
    for name in names:
        table.add_row(name, str(known.open_jobs.get(name, "")), *_row(own.get(name, TenantLimits())))
    _console.print(table)
    _errors.print(f"open jobs as of {known.counted_at or 'never: nobody has counted yet'}")


@app.command()
def show(tenant: Name, json: Json = False, stage: Stage = LOCAL) -> None:
    """Show what a tenant may, and how much of that it uses now."""
    deployment = find_deployment(stage)
    _show(deployment, tenants.look(deployment, tenant), json=json)


@app.command(name="set")
def set_(
    tenant: Name,
    requests_per_second: Annotated[int | None, typer.Option(min=1, help="Submits a second.")] = None,
    burst: Annotated[int | None, typer.Option(min=1, help="Submits at once, after a quiet time.")] = None,
    open_jobs: Annotated[int | None, typer.Option(min=1, help="Jobs that have not ended.")] = None,
    cap: Annotated[
        list[str] | None, typer.Option(metavar="LANE=N", help="Jobs in flight at once in a lane, 1 to 100.")
    ] = None,
    json: Json = False,
    stage: Stage = LOCAL,
) -> None:
    """Give a tenant limits of its own, within ten seconds; what is not named stays as it is."""
    caps = dict(_cap(text) for text in cap or ())
    limits = TenantLimits(requests_per_second=requests_per_second, burst=burst, open_jobs=open_jobs, caps=caps)
    if limits == TenantLimits():
        raise typer.BadParameter("say at least one limit", param_hint="--requests-per-second, --burst, …")
    deployment = find_deployment(stage)
    _show(deployment, tenants.set_limits(deployment, tenant, limits), json=json)


@app.command()
def reset(tenant: Name, json: Json = False, stage: Stage = LOCAL) -> None:
    """Let a tenant have the limits that everybody has."""
    deployment = find_deployment(stage)
    _show(deployment, tenants.reset_limits(deployment, tenant), json=json)


def _cap(text: str) -> tuple[str, int]:
    lane, _, number = text.partition("=")
    if not lane or not number.isascii() or not number.isdecimal():
        raise typer.BadParameter(f"{text!r} is not like interactive=5", param_hint="--cap")
    return lane, int(number)


def _show(deployment: Deployment, known: Known, *, json: bool) -> None:
    (tenant,) = known.tenants
    for doubt in [] if tenant.open_jobs else tenants.doubts(deployment, tenant.tenant):
        _errors.print(f"note: {doubt}")
    if json:
        told = {**msgspec.to_builtins(tenant), "limits": told_limits(tenant.limits)}
        print(msgspec.json.encode({"stage": told_limits(known.stage), **told}).decode())  # noqa: T201 (the output)
        return
    limits = Table("limit", "", "", box=None, show_header=False)
    for name, what in (("requests_per_second", "submits a second"), ("burst", "at once"), ("open_jobs", "open jobs")):
        own, stages = getattr(tenant.limits, name), getattr(known.stage, name)
        used = f"{tenant.open_jobs:,} now" if name == "open_jobs" else ""
        limits.add_row(what, f"{own or stages:,}", f"{'its own' if own else 'as everybody'} {used}".strip())
    _console.print(limits)
    _console.print(_lanes(tenant))


def _lanes(tenant: Tenant) -> Table:
    table = Table("lane", "cap", "in flight", "wait for a slot", "open when counted", box=None)
    for lane, use in tenant.lanes.items():
        cap = "none" if use.cap is None else f"{use.cap}{' (its own)' if lane in tenant.limits.caps else ''}"
        in_flight = "" if use.in_flight is None else str(use.in_flight)
        table.add_row(lane, cap, in_flight, str(use.waiting), str(use.open_jobs))
    return table


def _row(limits: TenantLimits) -> tuple[str, str, str, str]:
    numbers = (limits.requests_per_second, limits.burst, limits.open_jobs)
    first, second, third = ("" if each is None else f"{each:,}" for each in numbers)
    return first, second, third, " ".join(f"{lane}={cap}" for lane, cap in limits.caps.items())
