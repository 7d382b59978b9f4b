"""Cron expressions: the days and minutes that EventBridge Scheduler's documentation says they are."""

from datetime import date, timedelta

import pytest

from coatcheck.cron import Cron, NotAnExpression
from coatcheck.timetable import timetable

NOVEMBER = [date(2026, 11, 1) + timedelta(days=number) for number in range(30)]  # it begins on a Sunday
FEBRUARY = [date(2027, 2, 1) + timedelta(days=number) for number in range(28)]


def cron(fields: str) -> Cron:
    made = timetable(f"cron({fields})")
    assert isinstance(made, Cron)
    return made


def days(fields: str, among: list[date] = NOVEMBER) -> list[int]:
    when = cron(fields)
    return [day.day for day in among if when.on(day)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("0 0 1,15 * ? *", [1, 15]),
        ("0 0 28-30 * ? *", [28, 29, 30]),
        ("0 0 5/10 * ? *", [5, 15, 25]),
        ("0 0 10-20/5 * ? *", [10, 15, 20]),
        ("0 0 L * ? *", [30]),
        ("0 0 LW * ? *", [30]),
        ("0 0 1W * ? *", [2]),  # the 1st is a Sunday: the day before is another month's
        ("0 0 7W * ? *", [6]),  # a Saturday
        ("0 0 15W * ? *", [16]),  # a Sunday
        ("0 0 11W * ? *", [11]),
        ("0 0 ? * MON *", [2, 9, 16, 23, 30]),
        ("0 0 ? * mon-wed *", [2, 3, 4, 9, 10, 11, 16, 17, 18, 23, 24, 25, 30]),
        ("0 0 ? * 1 *", [1, 8, 15, 22, 29]),
        ("0 0 ? * SAT-SUN *", [1, 7, 8, 14, 15, 21, 22, 28, 29]),
        ("0 0 ? * L *", [7, 14, 21, 28]),
        ("0 0 ? * FRIL *", [27]),
        ("0 0 ? * 3#2 *", [10]),
        ("0 0 ? * TUE#5 *", []),
        ("0 0 1 JAN,NOV ? *", [1]),
        ("0 0 1 12 ? *", []),
        ("0 0 1 * ? 2027", []),
        ("0 0 1 * ? 2026-2028", [1]),
    ],
)
def test_days(fields: str, expected: list[int]) -> None:
    assert days(fields) == expected


@pytest.mark.parametrize(("fields", "expected"), [("0 0 31W * ? *", []), ("0 0 LW * ? *", [26]), ("0 0 L * ? *", [28])])
def test_a_short_month(fields: str, expected: list[int]) -> None:
    assert days(fields, FEBRUARY) == expected


def test_times_of_a_day_come_in_order() -> None:
    assert list(cron("45,*/20 22-1/2 * * ? *").times()) == [
        (0, 0), (0, 20), (0, 40), (0, 45), (22, 0), (22, 20), (22, 40), (22, 45),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("cron(0 2 * * ?)", "six fields"),
        ("cron(0 2 * * * *)", "exactly one of day of month and day of week must be"),
        ("cron(0 2 ? * ? *)", "exactly one of day of month and day of week must be"),
        ("cron(60 2 * * ? *)", "'60' is no minute: it is 0 to 59"),
        ("cron(0 24 * * ? *)", "'24' is no hour"),
        ("cron(0 2 0 * ? *)", "'0' is no day of month"),
        ("cron(0 2 32W * ? *)", "'32' is no day of month"),
        ("cron(0 2 * MAI ? *)", "'MAI' is no month: it is 1 to 12 or JAN to DEC"),
        ("cron(0 2 ? * 0 *)", "'0' is no day of week"),
        ("cron(0 2 ? * MON#6 *)", "1st to 5th"),
        ("cron(0 2 * * ? 1969)", "'1969' is no year"),
        ("cron(*/0 2 * * ? *)", "a step is a number above 0"),
        ("cron(², 2 * * ? *)", "no minute"),
        ("cron(1- 2 * * ? *)", "'' is no minute"),
    ],
)
def test_what_is_no_cron_expression_is_told_which_field_is_wrong(expression: str, says: str) -> None:
    with pytest.raises(NotAnExpression, match=says):
        timetable(expression)
