"""Schedules: what is to be done when, for whom, and the event that EventBridge Scheduler hands over at each tick."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from coatcheck.caller import check_tenant
from coatcheck.cron import Cron, NotAnExpression
from coatcheck.problem import BadRequest
from coatcheck.timetable import (
    FARTHEST,
    At,
    Gap,
    Timetable,
    UnknownZone,
    gaps,
    moment_of,
    next_tick,
    skipped,
    timetable,
    zone_of,
)

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME = 48
LONGEST_ZONE = 50
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
"""EventBridge Scheduler writes the tick's time in its place, also within args.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
"""


class Origin(StrEnum):
    """Who keeps a schedule: infra/config.py, whose deployment makes it, or the command."""

    CONFIG = "config"
    COMMAND = "command"


class InvalidSchedule(Exception):
    """A schedule that would not do what it says."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the schedule {name!r}: {why}")
        self.name = name


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A job to submit at each tick. `expression` is in the wall time of `timezone`, by its IANA name.

    Without `overlap` a tick is skipped, and counted, while the schedule's last job is open.
    """

    name: str
    tenant: str
    kind: str
    expression: str
    timezone: str = "UTC"
    args: Mapping[str, object] = field(default_factory=dict)
    lane: str | None = None
    overlap: bool = True
    enabled: bool = True

    def event(self, origin: Origin) -> dict[str, object]:
        """What the ticker is invoked with at each tick."""
        lane = {} if self.lane is None else {"lane": self.lane}
        return {
            "schedule": self.name,
            "scheduled_time": SCHEDULED_TIME,
            "tenant": self.tenant,
            "request": {"kind": self.kind, "args": dict(self.args), **lane},
            "overlap": self.overlap,
            "origin": origin.value,
        }


def filled(values: Mapping[str, object], at: datetime) -> dict[str, object]:
    """What the service makes of an event, or of args, at a tick: it writes the time wherever it stands."""
    text = json.dumps(values).replace(SCHEDULED_TIME, f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
    made: dict[str, object] = json.loads(text)
    return made


def check(schedule: Schedule, now: datetime | None = None) -> None:
    """Whether its ticks can come at all; whether the kind takes the args is not looked at.

    Raises InvalidSchedule. Without `now` its last tick may be past.
    """
    if not NAME.fullmatch(schedule.name) or len(schedule.name) > LONGEST_NAME:
        raise InvalidSchedule(schedule.name, f"a name has 1 to {LONGEST_NAME} of a-z, 0-9 and single dashes between")
    try:
        check_tenant(schedule.tenant)
    except BadRequest as error:
        raise InvalidSchedule(schedule.name, error.detail) from error
    if len(schedule.timezone) > LONGEST_ZONE:
        raise InvalidSchedule(schedule.name, f"its time zone's name is longer than {LONGEST_ZONE}")
    try:
        when, zone = timetable(schedule.expression), zone_of(schedule.timezone)
    except (NotAnExpression, UnknownZone) as error:
        raise InvalidSchedule(schedule.name, str(error)) from error
    if isinstance(when, At):
        _check_single(schedule, when, now)
    elif now is not None and next_tick(when, zone, now, now) is None:
        why = f"{schedule.expression} has no tick in the next {FARTHEST.days // 366} years"
        if next_tick(when, UTC, now, now) is not None:
            why += f", because the clocks of {schedule.timezone} go forward at its times: take others, or the zone UTC"
        raise InvalidSchedule(schedule.name, why)


def left_out(schedule: Schedule, now: datetime) -> list[str]:
    """What the ticks of a sound schedule leave out within a year because clocks go forward, as sentences."""
    when, zone = timetable(schedule.expression), zone_of(schedule.timezone)
    return [_told(schedule, gap, times) for gap in gaps(zone, now) if (times := _left_out(when, gap))]


def _check_single(schedule: Schedule, when: At, now: datetime | None) -> None:
    moment = moment_of(when.wall, zone_of(schedule.timezone))
    if moment is None:
        later = when.wall + timedelta(hours=1)
        raise InvalidSchedule(
            schedule.name,
            f"{schedule.timezone} never shows {when.wall:%Y-%m-%d %H:%M}, because its clocks go forward then: "
            f"write at({later.isoformat()}), or the time in UTC with the time zone UTC",
        )
    if now is not None and moment <= now:
        raise InvalidSchedule(schedule.name, f"{when.wall:%Y-%m-%d %H:%M} in {schedule.timezone} is past")


def _left_out(when: Timetable, gap: Gap) -> list[datetime]:
    """An hourly timetable loses no more than the hour itself."""
    return skipped(when, gap) if isinstance(when, Cron) and not when.hourly else []


def _told(schedule: Schedule, gap: Gap, times: list[datetime]) -> str:
    left_out = ", ".join(f"{each:%H:%M}" for each in times[:3]) + (", …" if len(times) > 3 else "")
    return (
        f"on {gap.start:%Y-%m-%d} there is no tick at {left_out}: the clocks of {schedule.timezone} go from "
        f"{gap.start:%H:%M} to {gap.end:%H:%M}. To have one every day, take a time outside of that hour, "
        f"or the time zone UTC"
    )
