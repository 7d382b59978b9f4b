"""Timetables: the next tick in a zone, over the hours that its clocks leave out and those that they repeat."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.cron import Cron, NotAnExpression
from coatcheck.timetable import Gap, UnknownZone, gaps, next_tick, skipped, timetable, zone_of

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2027, 3, 28, 1, tzinfo=UTC)  # 02:00 becomes 03:00
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)  # 03:00 becomes 02:00
MINUTE = timedelta(minutes=1)
WEEK = timedelta(days=7)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def ticks(expression: str, zone: ZoneInfo, since: datetime, until: datetime) -> list[str]:
    when, found = timetable(expression), list[str]()
    while (since := next_tick(when, zone, since, moment("2026-01-01T00:00Z")) or until) < until:
        found.append(since.astimezone(zone).isoformat(timespec="minutes"))
    return found


def test_a_wall_time_that_a_day_does_not_have_is_passed_over() -> None:
    found = ticks("cron(30 2 * * ? *)", BERLIN, SPRING - timedelta(days=1, hours=12), SPRING + timedelta(days=1))
    assert found == ["2027-03-27T02:30+01:00", "2027-03-29T02:30+02:00"]


def test_a_wall_time_that_a_day_has_twice_is_due_once() -> None:
    found = ticks("cron(30 2 * * ? *)", BERLIN, AUTUMN - timedelta(days=1, hours=12), AUTUMN + timedelta(days=2))
    assert found == ["2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]


def test_a_clock_that_is_looked_at_each_minute_of_the_repeated_hour_finds_each_tick_once() -> None:
    when, last = timetable("cron(*/15 * * * ? *)"), AUTUMN - 61 * MINUTE
    due = []
    for minute in range(-60, 121):
        now = AUTUMN + minute * MINUTE
        # once in between the clock is set back by ten seconds: the next tick is later than the last one all the same
        for seen in (now, now - timedelta(seconds=10)):
            while (tick := next_tick(when, BERLIN, last, last)) is not None and tick <= seen:
                due.append(last := tick)
    assert due == sorted(set(due))
    walls = [tick.astimezone(BERLIN).strftime("%H:%M") for tick in due]
    assert walls == [f"{hour:02}:{minute:02}" for hour in (2, 3) for minute in (0, 15, 30, 45)] + ["04:00"]
    assert all(tick.astimezone(BERLIN).fold == 0 for tick in due)


@given(
    st.sampled_from(["cron(*/7 1-3 * * ? *)", "cron(30 2 * * ? *)", "cron(0 0 ? * SUN *)", "rate(5 hours)"]),
    st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca", "Asia/Kolkata"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1)),  # noqa: DTZ001  # made aware below
)
def test_the_next_tick_is_later_than_the_last_and_none_lies_between(expression: str, name: str, at: datetime) -> None:
    when, zone, after, begun = timetable(expression), zone_of(name), at.replace(tzinfo=UTC), moment("2025-06-01T00:00Z")
    tick = next_tick(when, zone, after, begun)
    assert tick is not None
    assert tick > after
    between = after + (tick - after) / 2
    assert next_tick(when, zone, between, begun) == tick
    if isinstance(when, Cron):
        wall = tick.astimezone(zone)
        assert when.on(wall.date())
        assert (wall.hour, wall.minute) in set(when.times())


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("rate(1 day)", "2026-11-01T00:00Z", "2026-11-01T12:00+00:00"),
        ("rate(15 minutes)", "2026-11-01T12:00Z", "2026-11-01T12:15+00:00"),
        ("rate(2 hours)", "2026-11-02T13:59Z", "2026-11-02T14:00+00:00"),
        ("cron(0 0 29 2 ? *)", "2026-11-01T00:00Z", "2028-02-29T00:00+00:00"),
        ("cron(0 0 1 1 ? 2031)", "2026-11-01T00:00Z", "2031-01-01T00:00+00:00"),
        ("cron(0 0 1 1 ? 2199)", "2026-11-01T00:00Z", "2199-01-01T00:00+00:00"),
        ("at(2026-11-01T13:00:00)", "2026-11-01T12:59Z", "2026-11-01T13:00+00:00"),
    ],
)
def test_the_next_tick(expression: str, after: str, expected: str) -> None:
    found = next_tick(timetable(expression), UTC, moment(after), begun=moment("2026-11-01T12:00Z"))
    assert found is not None
    assert found.isoformat(timespec="minutes") == expected


@pytest.mark.parametrize("expression", ["cron(0 0 1 1 ? 2025)", "cron(0 0 30 2 ? *)", "at(2026-11-01T13:00:00)"])
def test_a_timetable_that_is_over_has_no_next_tick(expression: str) -> None:
    assert next_tick(timetable(expression), UTC, moment("2026-11-01T13:00Z"), moment("2026-01-01T00:00Z")) is None


def test_a_time_of_one_day_is_in_its_zone() -> None:
    found = next_tick(timetable("at(2026-12-01T02:30:00)"), zone_of("Asia/Kolkata"), AUTUMN, AUTUMN)
    assert found == moment("2026-11-30T21:00Z")
    assert next_tick(timetable("at(2027-03-28T02:30:00)"), BERLIN, AUTUMN, AUTUMN) is None


@pytest.mark.parametrize(
    ("zone", "start", "end"),
    [
        ("Europe/Berlin", "2027-03-28T02:00", "2027-03-28T03:00"),
        ("Australia/Lord_Howe", "2027-10-03T02:00", "2027-10-03T02:30"),
        ("America/Santiago", "2027-09-05T00:00", "2027-09-05T01:00"),
    ],
)
def test_where_clocks_go_forward(zone: str, start: str, end: str) -> None:
    assert list(gaps(zone_of(zone), moment("2027-01-15T12:00Z"))) == [Gap(start=moment(start), end=moment(end))]


def test_a_zone_without_summer_time_has_no_gap() -> None:
    assert not list(gaps(zone_of("Asia/Kolkata"), AUTUMN))


@pytest.mark.parametrize(
    ("fields", "walls"),
    [
        ("30 2 * * ? *", ["2027-03-28T02:30"]),
        ("0 2,3 * * ? *", ["2027-03-28T02:00"]),
        ("0 3 * * ? *", []),
        ("30 2 ? * MON-SAT *", []),
    ],
)
def test_which_wall_times_fall_into_a_gap(fields: str, walls: list[str]) -> None:
    when = timetable(f"cron({fields})")
    assert isinstance(when, Cron)
    (gap,) = gaps(BERLIN, AUTUMN)
    assert skipped(when, gap) == [moment(wall) for wall in walls]


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("30 2 * * *", r"write rate\(15 minutes\), cron\("),
        ("every(5 minutes)", "write rate"),
        ("rate(5 minutes", "write rate"),
        ("rate(0 minutes)", "a rate is"),
        ("rate(1 minutes)", "a rate is"),
        ("rate(5 minute)", "a rate is"),
        ("rate(30 seconds)", "a rate is"),
        ("at(2027-03-31T23:00:00Z)", "without an offset"),
        ("at(2027-02-30T23:00:00)", "day"),
        ("at(0001-01-01T00:00:00)", "1970"),
        ("at(9999-12-31T23:59:59)", "2199"),
    ],
)
def test_what_is_no_expression_is_told_what_to_write(expression: str, says: str) -> None:
    with pytest.raises(NotAnExpression, match=says):
        timetable(expression)


@pytest.mark.parametrize("name", ["Asia/Calcuttta", "Europe", "../etc/passwd", "", "IST"])
def test_a_zone_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(UnknownZone):
        zone_of(name)


def test_a_zone_that_is_almost_known_is_suggested() -> None:
    with pytest.raises(UnknownZone, match="Europe/Berlin"):
        zone_of("Europe/Berln")
