"""schedules create, list, show, pause, resume, run, delete, lost: jobs that are submitted by the clock."""

import json as json_
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from coatcheck.schedule import Schedule, left_out
from coatcheck.text import rfc3339
from coatcheck.timetable import UnknownZone, zone_of
from coatcheck_client import schedules, tenants
from coatcheck_client.client import new_key
from coatcheck_client.commands.jobs import BadArgs, parsed_args
from coatcheck_client.commands.options import Json, Stage
from coatcheck_client.deployment import LOCAL, find_deployment
from coatcheck_client.lost_ticks import LostTicks
from coatcheck_client.stored_schedule import Stored

WIDE = 160
"""Columns of a table that goes into a file or to another program."""

_console = Console(highlight=False, markup=False, soft_wrap=True)
_errors = Console(highlight=False, markup=False, stderr=True, soft_wrap=True)

app = typer.Typer(
    no_args_is_help=True,
    help="Schedules: jobs that are submitted by the clock, once for each tick. What holds: docs/schedules.md.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name, as `list` shows it.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name: a-z, 0-9 and dashes.")],
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What to run, such as gst-export.")],
    expression: Annotated[
        str,
        typer.Argument(
            metavar="WHEN",
            help="'cron(30 2 * * ? *)' (minute hour day-of-month month day-of-week year; one of the two days is ?), "
            "'rate(15 minutes)', or 'at(2027-03-31T23:00:00)'.",
        ),
    ],
    tenant: Annotated[str, typer.Option(help="Whose jobs they are.")],
    timezone: Annotated[str, typer.Option(help="Whose wall time WHEN is, such as Asia/Kolkata.")] = "UTC",
    args: Annotated[
        str,
        typer.Option(
            help="The jobs' args: JSON, @FILE, or - for standard input. In them, "
            "<aws.scheduler.scheduled-time> becomes the tick's time."
        ),
    ] = "{}",
    lane: Annotated[
        str | None, typer.Option(help="One of the deployment's lanes: interactive, bulk, … (default: the kind's).")
    ] = None,
    overlap: Annotated[
        bool, typer.Option("--overlap/--no-overlap", help="Whether a tick makes a job while the last one is open.")
    ] = True,
    paused: Annotated[bool, typer.Option("--paused", help="Make it, and let it not tick yet.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Change the schedule of this name, if there is one.")
    ] = False,
    stage: Stage = LOCAL,
) -> None:
    """Submit a job again and again, by the clock. The args are checked now, and again at each tick."""
    schedule = Schedule(
        name=name,
        tenant=tenant,
        kind=kind,
        expression=expression,
        timezone=timezone,
        args=_object(parsed_args(args)),
        lane=lane,
        overlap=overlap,
        enabled=not paused,
    )
    deployment, now = find_deployment(stage), datetime.now(UTC)
    schedules.checked(deployment, schedule, now)
    schedules.create(deployment, schedule, replace=replace)
    for each in (*left_out(schedule, now), *tenants.doubts(deployment, tenant)):
        _errors.print(f"note: {each}")
    due = schedules.find(deployment, name).next_tick(None, now)
    _console.print(f"{name} is {_state(schedule)}; {_due(due, timezone)}")


@app.command(name="list")
def list_(json: Json = False, stage: Stage = LOCAL) -> None:
    """Show all schedules, what their last ticks became, and when they are due next."""
    deployment, now = find_deployment(stage), datetime.now(UTC)
    found = schedules.stored(deployment)
    told = schedules.records(deployment, [each.schedule.name for each in found])
    if json:
        for each in found:
            print(json_.dumps(_document(each, told[each.schedule.name], now)))  # noqa: T201 (the command's output)
        return
    table = Table(
        Column("schedule", no_wrap=True),
        "",
        "when",
        "next tick",
        "last tick",
        "its job",
        "skipped",
        "kept by",
        box=None,
    )
    for each in found:
        document = _document(each, told[each.schedule.name], now)
        job = document.get("last_job", {})
        zone = each.schedule.timezone
        table.add_row(
            each.schedule.name,
            "REFUSED" if "refused" in document else document["state"],
            f"{each.schedule.expression} {zone}",
            _shown(document.get("next_tick"), zone),
            _shown(document.get("last_tick"), zone),
            f"{job.get('id', '-')} {job.get('state', '')}",
            str(document["skipped"]),
            each.origin,
        )
    if found:
        console = Console(highlight=False, markup=False, width=None if _console.is_terminal else WIDE)
        console.print(table)
    _errors.print(f"{len(found)} schedules")


@app.command()
def show(name: Name, stage: Stage = LOCAL) -> None:
    """Print all that is known of a schedule, as JSON: its args too, and why its last tick was refused or skipped."""
    deployment = find_deployment(stage)
    found = schedules.find(deployment, name)
    document = _document(found, schedules.records(deployment, [name])[name], datetime.now(UTC))
    print(json_.dumps(document, indent=2))  # noqa: T201 (the command's output)


@app.command()
def pause(name: Name, stage: Stage = LOCAL) -> None:
    """Let it tick no more. Jobs that it has made go on; ticks of the meantime are not made up for."""
    schedules.set_enabled(find_deployment(stage), name, enabled=False)
    _errors.print(f"{name} is paused")


@app.command()
def resume(name: Name, stage: Stage = LOCAL) -> None:
    """Let it tick again."""
    found = schedules.set_enabled(find_deployment(stage), name, enabled=True)
    due = found.next_tick(None, datetime.now(UTC))
    _errors.print(f"{name} is on; {_due(due, found.schedule.timezone)}")


@app.command()
def run(
    name: Name,
    key: Annotated[str | None, typer.Option(help="The same key makes one job (default: a new key).")] = None,
    stage: Stage = LOCAL,
) -> None:
    """Submit its job now, paused or not, and print the job's id. Without overlap, not beside an open one."""
    job_id = schedules.run(find_deployment(stage), name, new_key() if key is None else key)
    print(job_id)  # noqa: T201 (this is the output, for scripts)


@app.command()
def delete(name: Name, stage: Stage = LOCAL) -> None:
    """Let it tick no more, and forget it. Jobs that it has made go on."""
    schedules.delete(find_deployment(stage), name)
    _errors.print(f"{name} is deleted")


@app.command()
def lost(
    redo: Annotated[bool, typer.Option("--redo", help="Take them again: each is one job, whatever it was.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Let them go: their jobs are not made.")] = False,
    stage: Stage = LOCAL,
) -> None:
    """Show the ticks that became nothing and were given up, and why; take them again, or forget them."""
    if redo and forget:
        raise typer.BadParameter("one of --redo and --forget", param_hint="--redo")
    queue, left = LostTicks(find_deployment(stage)), 0
    with queue.taken() as ticks:
        for tick in sorted(ticks, key=lambda each: (each.scheduled_time, each.schedule)):
            became = queue.redo(tick) if redo else {}
            if forget or became.keys() & {"job_id", "skipped_for"}:
                queue.drop(ticks, tick)
            told = " ".join(f"{name}: {value}" for name, value in became.items() if name != "before")
            _console.print(f"{tick.schedule}  {tick.scheduled_time}  {told or tick.reason}")
        left = len(ticks)
    _errors.print(f"{left} lost ticks are left" if redo or forget else f"{left} lost ticks")


def _object(args: object) -> dict[str, object]:
    if not isinstance(args, dict):
        raise BadArgs("is no object")
    return args


def _document(found: Stored, record: dict[str, Any], now: datetime) -> dict[str, Any]:
    known = record.get("last_tick")
    due = found.next_tick(None if known is None else datetime.fromisoformat(known), now)
    return {
        **{name: value for name, value in asdict(found.schedule).items() if value is not None and name != "enabled"},
        "state": _state(found.schedule),
        "kept_by": found.origin,
        **({} if due is None else {"next_tick": rfc3339(due)}),
        **record,
    }


def _state(schedule: Schedule) -> str:
    return "on" if schedule.enabled else "paused"


def _due(moment: datetime | None, zone: str) -> str:
    return "no tick is ahead" if moment is None else f"its next tick is {_local(moment, zone)} {zone}"


def _shown(time: str | None, zone: str) -> str:
    return _local(None if time is None else datetime.fromisoformat(time), zone)


def _local(moment: datetime | None, zone: str) -> str:
    """A time as the schedule's own clock shows it."""
    if moment is None:
        return "-"
    try:
        return f"{moment.astimezone(zone_of(zone)):%Y-%m-%d %H:%M}"
    except UnknownZone:
        return f"{moment:%Y-%m-%d %H:%M} UTC"
