"""Schedules of the emulator, fired as EventBridge Scheduler fires them: in their zones, with the tick's own time.

Ministack's own rule knows neither zones nor the keywords within an event, and forgets a tick that a function refuses.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from ministack.core.responses import set_request_account_id, set_request_region
from ministack.services import lambda_svc, scheduler
from ministack.services.cloudformation import provisioners

from coatcheck.cron import NotAnExpression
from coatcheck.schedule import filled
from coatcheck.timetable import UnknownZone, next_tick, timetable, zone_of

SWEEP_SECONDS = 1
A_MOMENT = timedelta(microseconds=1)

Schedule: TypeAlias = dict[str, Any]
_last: dict[tuple[Any, float], datetime] = {}
"""The last tick of each schedule, by its place and when it was made: a schedule that is made anew begins anew."""


def mend_schedules() -> None:
    scheduler._tick_schedules = fire_due  # noqa: SLF001
    scheduler._SCHEDULE_TICK_INTERVAL = SWEEP_SECONDS  # noqa: SLF001
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Scheduler::Schedule"]  # noqa: SLF001
    for act in ("create", "update"):
        handlers[act] = _with_zone(handlers[act])


def fire_due(now: datetime | None = None) -> None:
    """Fire every schedule that is due. One that was due several times since it was looked at fires once."""
    now = now or datetime.now(UTC)
    for place, schedule in list(scheduler._schedules._data.items()):  # noqa: SLF001
        key = (place, schedule["CreationDate"])
        tick = due_tick(schedule, _last.get(key), now)
        if tick is None:
            continue
        _last[key] = tick
        account, region, _ = place
        set_request_account_id(account)
        set_request_region(region)
        _invoke(schedule["Target"], tick)
        if schedule.get("ActionAfterCompletion") == "DELETE" and schedule["ScheduleExpression"].startswith("at("):
            scheduler._schedules._data.pop(place, None)  # noqa: SLF001


def due_tick(schedule: Mapping[str, Any], last: datetime | None, now: datetime) -> datetime | None:
    """The newest tick that is due and later than the last; what passed while it was disabled is not made up for."""
    if schedule["State"] != "ENABLED":
        return None
    try:
        when, zone = timetable(schedule["ScheduleExpression"]), zone_of(schedule["ScheduleExpressionTimezone"])
    except (NotAnExpression, UnknownZone):
        return None
    begun = datetime.fromtimestamp(schedule["CreationDate"], UTC)
    changed = datetime.fromtimestamp(schedule["LastModificationDate"], UTC)
    since = max(changed - A_MOMENT, last or begun - A_MOMENT)
    due = None
    while (tick := next_tick(when, zone, since, begun)) is not None and tick <= now:
        due = since = tick
    return due


def _invoke(target: Mapping[str, Any], tick: datetime) -> None:
    """Hand the event to the function as an asynchronous call: tried again, and then kept where its failures go."""
    event = filled(json.loads(target.get("Input") or "{}"), tick)
    function, config, _ = lambda_svc._get_func_record_for_ref(target["Arn"])  # noqa: SLF001
    if function is not None:
        record = lambda_svc._execution_record_for_config(function, config)  # noqa: SLF001
        lambda_svc.invoke_async_with_retry(record, event)


def _with_zone(act: Any) -> Any:
    """A template's schedule with the time zone that the template says."""

    def acted(*arguments: Any) -> Any:
        name, attributes = act(*arguments)
        properties = next(each for each in reversed(arguments) if isinstance(each, dict))
        place = f"{properties.get('GroupName', 'default')}/{name}"
        zone = properties.get("ScheduleExpressionTimezone", "UTC")
        scheduler._schedules[place]["ScheduleExpressionTimezone"] = zone  # noqa: SLF001
        return name, attributes

    return acted
