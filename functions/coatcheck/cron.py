"""Cron expressions as EventBridge Scheduler reads them: `cron(minutes hours day-of-month month day-of-week year)`.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cron-expressions.html
"""

import calendar
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeAlias

DaysMatch: TypeAlias = Callable[[date], bool]
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
ANY = "?"


class NotAnExpression(Exception):
    """A schedule's expression that EventBridge Scheduler would not take."""

    def __init__(self, expression: str, why: str) -> None:
        super().__init__(f"{expression!r} is no schedule: {why}")
        self.expression = expression
        self.why = why


@dataclass(frozen=True, kw_only=True)
class Cron:
    """Wall times: at each of these minutes of each of these hours, on the days that match."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    years: frozenset[int]
    day: DaysMatch

    @property
    def hourly(self) -> bool:
        """Whether it is due in every hour of its days."""
        return len(self.hours) == 24

    def on(self, day: date) -> bool:
        return day.month in self.months and day.year in self.years and self.day(day)

    def times(self) -> Iterator[tuple[int, int]]:
        """The hours and minutes of a day, in order."""
        return ((hour, minute) for hour in self.hours for minute in self.minutes)


@dataclass(frozen=True, kw_only=True)
class _Field:
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        if text.upper() in self.names:
            return self.lowest + self.names.index(text.upper())
        if not text.isascii() or not text.isdigit() or not self.lowest <= int(text) <= self.highest:
            named = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
            raise ValueError(f"{text!r} is no {self.name}: it is {self.lowest} to {self.highest}{named}")
        return int(text)

    def numbers(self, text: str) -> frozenset[int]:
        """`*`, single values, ranges and steps, separated by commas."""
        return frozenset(number for term in text.split(",") for number in self._term(term))

    def _term(self, term: str) -> list[int]:
        span, slash, step = term.partition("/")
        if slash and not (step.isascii() and step.isdigit() and int(step) > 0):
            raise ValueError(f"{term!r} in the {self.name}: a step is a number above 0")
        first, dash, last = (str(self.lowest), "-", str(self.highest)) if span == "*" else span.partition("-")
        begin = self.number(first)
        end = self.number(last) if dash else self.highest if slash else begin
        through = [*range(begin, end + 1)] if begin <= end else [*range(begin, self.highest + 1)]
        around = [] if begin <= end else [*range(self.lowest, end + 1)]  # such as FRI-MON
        return [*through, *around][:: int(step) if slash else 1]


MINUTES = _Field(name="minute", lowest=0, highest=59)
HOURS = _Field(name="hour", lowest=0, highest=23)
DAY_OF_MONTH = _Field(name="day of month", lowest=1, highest=31)
MONTH = _Field(name="month", lowest=1, highest=12, names=MONTHS)
DAY_OF_WEEK = _Field(name="day of week", lowest=1, highest=7, names=DAYS)
YEAR = _Field(name="year", lowest=1970, highest=2199)


def parsed_cron(expression: str, fields: str) -> Cron:
    """What stands between the parentheses. Raises NotAnExpression."""
    parts = fields.split()
    if len(parts) != 6:
        why = f"cron() has six fields (minute hour day-of-month month day-of-week year), not {len(parts)}"
        raise NotAnExpression(expression, why)
    minutes, hours, days, months, weekdays, years = parts
    if (days == ANY) is (weekdays == ANY):
        raise NotAnExpression(expression, "exactly one of day of month and day of week must be ?")
    try:
        return Cron(
            minutes=tuple(sorted(MINUTES.numbers(minutes))),
            hours=tuple(sorted(HOURS.numbers(hours))),
            months=MONTH.numbers(months),
            years=YEAR.numbers(years),
            day=_day_of_month(days) if weekdays == ANY else _day_of_week(weekdays),
        )
    except ValueError as error:
        raise NotAnExpression(expression, str(error)) from error


def _day_of_month(text: str) -> DaysMatch:
    """Numbers; `L` is the month's last day, `15W` the working day nearest to the 15th, `LW` the last working day."""
    if text == "L":
        return lambda day: day.day == _last(day)
    if text == "LW":
        return lambda day: day == _nearest_workday(day, _last(day))
    if text.endswith("W"):
        wanted = DAY_OF_MONTH.number(text[:-1])
        return lambda day: wanted <= _last(day) and day == _nearest_workday(day, wanted)
    numbers = DAY_OF_MONTH.numbers(text)
    return lambda day: day.day in numbers


def _day_of_week(text: str) -> DaysMatch:
    """Numbers from Sunday, or names; `L` is Saturday, `FRIL` the month's last Friday, `TUE#2` its second Tuesday."""
    if text != "L" and text.endswith("L"):
        wanted = DAY_OF_WEEK.number(text[:-1])
        return lambda day: _weekday(day) == wanted and day.day + 7 > _last(day)
    weekday, hash_, count = text.partition("#")
    if hash_:
        wanted = DAY_OF_WEEK.number(weekday)
        if count not in ("1", "2", "3", "4", "5"):
            raise ValueError(f"{text!r}: the day of week that is meant of a month is its 1st to 5th")
        return lambda day: _weekday(day) == wanted and (day.day - 1) // 7 + 1 == int(count)
    numbers = DAY_OF_WEEK.numbers("SAT" if text == "L" else text)
    return lambda day: _weekday(day) in numbers


def _weekday(day: date) -> int:
    return day.isoweekday() % 7 + 1


def _last(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _nearest_workday(day: date, wanted: int) -> date:
    """Of the month of `day`, and within it."""
    nearest = day.replace(day=wanted)
    match nearest.weekday():
        case 5:
            return nearest + timedelta(days=-1 if wanted > 1 else 2)
        case 6:
            return nearest + timedelta(days=1 if wanted < _last(day) else -2)
    return nearest
