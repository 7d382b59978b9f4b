"""Schedules are checked before they are made: names, expressions, zones, and hours that a zone does not have."""

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from coatcheck.schedule import SCHEDULED_TIME, InvalidSchedule, Origin, Schedule, check, filled, left_out
from coatcheck.tick import Tick

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
NIGHTLY = Schedule(name="nightly", tenant="acme", kind="probe", expression="cron(30 2 * * ? *)")
BERLIN = replace(NIGHTLY, timezone="Europe/Berlin")


def test_a_schedule_in_a_zone_without_summer_time_has_nothing_to_be_told() -> None:
    assert left_out(replace(NIGHTLY, timezone="Asia/Kolkata"), NOW) == []


def test_a_daily_time_that_one_day_does_not_have_is_told_with_what_to_write() -> None:
    (told,) = left_out(BERLIN, NOW)
    assert told == (
        "on 2027-03-28 there is no tick at 02:30: the clocks of Europe/Berlin go from 02:00 to 03:00. "
        "To have one every day, take a time outside of that hour, or the time zone UTC"
    )


def test_many_times_that_one_day_does_not_have_are_told_in_short() -> None:
    (told,) = left_out(replace(BERLIN, expression="cron(*/10 2 * * ? *)"), NOW)
    assert "no tick at 02:00, 02:10, 02:20, …:" in told


@pytest.mark.parametrize("expression", ["cron(*/15 * * * ? *)", "cron(30 3 * * ? *)", "rate(1 day)"])
def test_what_loses_no_more_than_the_hour_itself_has_nothing_to_be_told(expression: str) -> None:
    assert left_out(replace(BERLIN, expression=expression), NOW) == []


def test_a_single_time_that_its_zone_never_shows_is_refused_with_what_to_write() -> None:
    single = replace(BERLIN, expression="at(2027-03-28T02:30:00)")
    for now in (NOW, None):
        with pytest.raises(InvalidSchedule, match=r"write at\(2027-03-28T03:30:00\), or the time in UTC"):
            check(single, now)


def test_a_single_time_that_is_past_is_refused_unless_the_schedule_stands_for_good() -> None:
    past = replace(NIGHTLY, timezone="Asia/Kolkata", expression="at(2026-11-10T17:30:00)")
    with pytest.raises(InvalidSchedule, match="2026-11-10 17:30 in Asia/Kolkata is past"):
        check(past, NOW)
    check(past)
    check(replace(past, expression="at(2026-11-10T17:31:00)"), NOW)


def test_a_timetable_of_times_that_the_clocks_leave_out_says_so() -> None:
    never = replace(NIGHTLY, timezone="Europe/Berlin", expression="cron(30 2 28 3 ? 2027)")
    with pytest.raises(InvalidSchedule, match="because the clocks of Europe/Berlin go forward at its times"):
        check(never, NOW)
    check(replace(never, timezone="UTC"), NOW)


def test_a_timetable_that_is_over_is_refused_unless_the_schedule_stands_for_good() -> None:
    for over in ("cron(0 0 1 1 ? 2020)", "cron(0 0 30 2 ? *)"):
        with pytest.raises(InvalidSchedule, match="no tick in the next 10 years"):
            check(replace(NIGHTLY, expression=over), NOW)
        check(replace(NIGHTLY, expression=over))


@pytest.mark.parametrize(
    "name", ["", "Nightly", "night_ly", "-nightly", "nightly-", "n--n", "1st", "n" * 49, "nächtlich"]
)
def test_a_name_is_lower_case_with_dashes(name: str) -> None:
    with pytest.raises(InvalidSchedule, match="a name has 1 to 48"):
        check(replace(NIGHTLY, name=name))


def test_names_that_can_be_told_apart_are_taken() -> None:
    for name in ("n", "nightly", "gst-export-2", "n" * 48):
        check(replace(NIGHTLY, name=name))


def test_what_makes_no_schedule_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="no name of a tenant"):
        check(replace(NIGHTLY, tenant="Acme"))
    with pytest.raises(InvalidSchedule, match="is no schedule"):
        check(replace(NIGHTLY, expression="30 2 * * *"))
    with pytest.raises(InvalidSchedule, match="zone"):
        check(replace(NIGHTLY, timezone="Asia/Bangaluru"))
    with pytest.raises(InvalidSchedule, match="longer than 50"):
        check(replace(NIGHTLY, timezone="A" * 51))


def test_its_event_is_a_tick_once_the_service_has_written_the_time_into_it() -> None:
    schedule = replace(NIGHTLY, args={"since": SCHEDULED_TIME}, lane="bulk", overlap=False)
    event = schedule.event(Origin.CONFIG)
    tick = msgspec.convert(filled(event, datetime(2026, 11, 30, 18, 30, tzinfo=UTC)), Tick)
    assert tick == Tick(
        schedule="nightly",
        scheduled_time=datetime(2026, 11, 30, 18, 30, tzinfo=UTC),
        tenant="acme",
        request={"kind": "probe", "args": {"since": "2026-11-30T18:30:00Z"}, "lane": "bulk"},
        overlap=False,
    )
    with pytest.raises(msgspec.ValidationError, match="scheduled_time"):
        msgspec.convert(event, Tick)
