"""Timetables: when a schedule is due, by its expression and in its time zone, as EventBridge Scheduler has it.

Expressions are wall times. One that a day does not have, because the clocks go forward over it, is passed over; one
that a day has twice, because they go back, is due once, the first time. The next tick is always later than the last.
https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from difflib import get_close_matches
from typing import TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from coatcheck.cron import YEAR, Cron, NotAnExpression, parsed_cron

RATE = re.compile(r"(\d{1,6}) (minute|hour|day)(s?)")
FORMS = "write rate(15 minutes), cron(30 2 * * ? *) or at(2027-03-31T23:00:00)"
FARTHEST = timedelta(days=10 * 366)
"""Two 29ths of February are eight years apart at most."""

A_YEAR = timedelta(days=366)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Rate:
    every: timedelta


@dataclass(frozen=True, kw_only=True)
class At:
    """Once, at a wall time."""

    wall: datetime


Timetable: TypeAlias = Rate | Cron | At


class UnknownZone(Exception):
    """No time zone has that name."""

    def __init__(self, name: str) -> None:
        known = available_timezones()
        close = get_close_matches(name, known, n=3)
        meant = f" (did you mean {' or '.join(close)}?)" if close else ""
        hint = f"names are like Asia/Kolkata{meant}" if known else "this machine has none: pip install tzdata"
        super().__init__(f"there is no time zone {name!r}: {hint}")
        self.name = name


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Wall times that a zone does not have: from `start` to before `end`."""

    start: datetime
    end: datetime


def zone_of(name: str) -> ZoneInfo:
    """Raises UnknownZone."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:  # by what is wrong with the name
        raise UnknownZone(name) from error


def timetable(expression: str) -> Timetable:
    """Raises NotAnExpression."""
    form, parenthesis, rest = expression.partition("(")
    if not parenthesis or not rest.endswith(")") or form not in ("rate", "cron", "at"):
        raise NotAnExpression(expression, FORMS)
    if form == "rate":
        return _rate(expression, rest[:-1])
    return parsed_cron(expression, rest[:-1]) if form == "cron" else _at(expression, rest[:-1])


def next_tick(when: Timetable, zone: tzinfo, after: datetime, begun: datetime) -> datetime | None:
    """The first tick later than `after`, in UTC; None if there is none. A rate counts from when it has `begun`."""
    match when:
        case Rate(every=every):
            return begun if begun > after else begun + every * ((after - begun) // every + 1)
        case At(wall=wall):
            moment = moment_of(wall, zone)
            return moment if moment is not None and moment > after else None
        case Cron():
            return next((moment for moment in _moments(when, zone, after) if moment > after), None)


def moment_of(wall: datetime, zone: tzinfo) -> datetime | None:
    """When a zone's clocks first show a wall time, in UTC; None if they never do."""
    moment = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return moment if moment.astimezone(zone).replace(tzinfo=None) == wall else None


def gaps(zone: tzinfo, since: datetime, span: timedelta = A_YEAR) -> Iterator[Gap]:
    """Where a zone's clocks go forward within a time to come."""
    for days in range(span.days):
        begin = since + timedelta(days=days)
        before, later = _offset(zone, begin), _offset(zone, begin + timedelta(days=1))
        if later > before:
            turn = _turn(zone, begin, begin + timedelta(days=1))
            yield Gap(start=(turn + before).replace(tzinfo=None), end=(turn + later).replace(tzinfo=None))


def skipped(when: Cron, gap: Gap) -> list[datetime]:
    """The wall times of a timetable that fall into a gap."""
    days = {gap.start.date(), gap.end.date()}
    walls = [datetime.combine(day, time(*at)) for day in sorted(days) if when.on(day) for at in when.times()]
    return [wall for wall in walls if gap.start <= wall < gap.end]


def _moments(when: Cron, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """A day's ticks, day by day, from the day before `after` in its zone."""
    first = after.astimezone(zone).date() - timedelta(days=1)
    first = max(first, date(min(when.years), 1, 1))
    for days in range(FARTHEST.days):
        day = first + timedelta(days=days)
        if when.on(day):
            walls = (datetime.combine(day, time(*at)) for at in when.times())
            yield from (moment for wall in walls if (moment := moment_of(wall, zone)) is not None)


def _rate(expression: str, text: str) -> Rate:
    found = RATE.fullmatch(text)
    if found is None or int(found[1]) < 1 or (int(found[1]) == 1) is bool(found[3]):
        raise NotAnExpression(expression, "a rate is 1 minute, 1 hour, 1 day, or a number of minutes, hours, days")
    number, unit = int(found[1]), found[2]
    return Rate(every=timedelta(**{f"{unit}s": number}))


def _at(expression: str, text: str) -> At:
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text):
        raise NotAnExpression(expression, "write at(yyyy-mm-ddThh:mm:ss), without an offset: the time zone says it")
    try:
        YEAR.number(text[:4])  # at the calendar's ends not every zone has a time
        return At(wall=datetime.fromisoformat(text))
    except ValueError as error:
        raise NotAnExpression(expression, str(error)) from error


def _offset(zone: tzinfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta(0)


def _turn(zone: tzinfo, begin: datetime, end: datetime) -> datetime:
    """The minute at which the offset changes between two moments, in UTC."""
    old = _offset(zone, begin)
    while end - begin > MINUTE:
        middle = begin + (end - begin) / 2
        begin, end = (middle, end) if _offset(zone, middle) == old else (begin, middle)
    return end.astimezone(UTC).replace(second=0, microsecond=0)
