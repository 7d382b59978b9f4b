"""A schedule as EventBridge Scheduler has it, read back from what the service answers."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from coatcheck.cron import NotAnExpression
from coatcheck.schedule import Origin, Schedule
from coatcheck.timetable import Rate, UnknownZone, next_tick, timetable, zone_of

if TYPE_CHECKING:
    from types_boto3_scheduler.type_defs import GetScheduleOutputTypeDef


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A schedule as the service has it. `event` is what its ticks hand over; None: it is not one of Coatcheck."""

    schedule: Schedule
    origin: Origin
    created: datetime
    event: dict[str, Any] | None

    def next_tick(self, last: datetime | None, now: datetime) -> datetime | None:
        """When it is due next, or None. A rate counts from the last tick that is known."""
        if not self.schedule.enabled:
            return None
        try:
            when, zone = timetable(self.schedule.expression), zone_of(self.schedule.timezone)
        except (NotAnExpression, UnknownZone):
            return None
        begun = last if isinstance(when, Rate) and last is not None else self.created
        return next_tick(when, zone, now, begun)


def read(found: "GetScheduleOutputTypeDef") -> Stored:
    """What the service answers, as a schedule."""
    event = _event(found["Target"].get("Input"))
    request: dict[str, Any] = event["request"] if event else {"kind": "(not of Coatcheck)"}
    return Stored(
        schedule=Schedule(
            name=found["Name"],
            tenant=event["tenant"] if event else "",
            kind=request["kind"],
            args=request.get("args", {}),
            lane=request.get("lane"),
            expression=found["ScheduleExpression"],
            timezone=found.get("ScheduleExpressionTimezone", "UTC"),
            overlap=event["overlap"] if event else True,
            enabled=found["State"] == "ENABLED",
        ),
        origin=Origin(event["origin"]) if event else Origin.COMMAND,
        created=found["CreationDate"],
        event=event,
    )


def _event(text: str | None) -> dict[str, Any] | None:
    """The event of a schedule of ours; somebody may have put another one into the group."""
    try:
        event = json.loads(text or "")
        ours = isinstance(event["request"]["kind"], str) and {"tenant", "overlap", "schedule"} <= set(event)
        Origin(event["origin"])
    except (ValueError, KeyError, TypeError):
        return None
    return event if ours else None
