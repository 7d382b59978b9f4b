import gzip
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import psycopg
import pytest

from coatcheck.args import InvalidArgs, checked_args
from coatcheck.outcome import Succeeded
from jobs import _invoices, gst_export
from jobs._invoices import AMOUNTS, HEADER, selection
from jobs.gst_export import Args
from tests.jobs.exports import AS_OF, add_invoice, export, failure_of, file_of, ids, new_seller, rows_of

PERIOD_START = datetime(2026, 9, 30, 18, 30, tzinfo=UTC)
PERIOD_END = datetime(2026, 10, 31, 18, 30, tzinfo=UTC)


def test_the_file_holds_every_invoice_of_the_period_once_and_in_order(
    database_url: str, connection: psycopg.Connection
) -> None:
    rows = rows_of(file_of(export(database_url)))
    expected = connection.execute(
        "SELECT invoice_id, buyer_name, description, total FROM invoices WHERE seller_id = '48812'"
        " AND invoice_date >= %s AND invoice_date < %s ORDER BY invoice_id",
        [PERIOD_START, PERIOD_END],
    ).fetchall()
    assert ids(rows) == [row[0] for row in expected]
    assert len(rows) == 2_500
    assert [Decimal(row["total"]) for row in rows] == [row[3] for row in expected]
    unchanged = [(row["buyer_name"], row["description"]) for row in rows]
    for written, (_, name, description, _) in zip(unchanged, expected, strict=True):
        assert written[0] in {name, f"'{name}"}
        assert written[1] in {description, f"'{description}"}


def test_the_rows_add_up_to_what_the_database_counted(database_url: str, connection: psycopg.Connection) -> None:
    performed = export(database_url)
    rows = rows_of(file_of(performed))
    sums = ", ".join(f"sum({name})" for name in AMOUNTS)
    expected = connection.execute(
        f"SELECT {sums} FROM invoices WHERE seller_id = '48812' AND invoice_date >= %s AND invoice_date < %s",  # noqa: S608
        [PERIOD_START, PERIOD_END],
    ).fetchall()[0]
    assert tuple(sum(Decimal(row[name]) for row in rows) for name in AMOUNTS) == expected
    assert isinstance(performed.outcome, Succeeded)
    assert performed.outcome.result.rows == len(rows)


@pytest.mark.parametrize(("seller_id", "invoices"), [("48810", 0), ("48811", 1), ("48813", 2_000)])
def test_small_sellers_get_a_file_too(database_url: str, seller_id: str, invoices: int) -> None:
    performed = export(database_url, seller_id)
    assert len(rows_of(file_of(performed))) == invoices
    assert isinstance(performed.outcome, Succeeded)
    result = performed.outcome.result
    assert result.rows == invoices
    assert result.file
    assert result.file.key.endswith(f"/gst-{seller_id}-2026-10.csv.gz")
    assert result.file.content_type == "application/gzip"


def test_a_period_without_invoices_gives_a_file_of_the_header_alone(database_url: str) -> None:
    assert gzip.decompress(file_of(export(database_url, "48810"))) == HEADER


def test_a_period_begins_and_ends_at_midnight_in_india(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    second = timedelta(seconds=1)
    borders = [PERIOD_START - second, PERIOD_START, PERIOD_END - second, PERIOD_END]
    before, first, last, after = (add_invoice(connection, seller_id, invoice_date=moment) for moment in borders)
    october = rows_of(file_of(export(database_url, seller_id)))
    assert ids(october) == [first, last]
    assert [row["invoice_date"] for row in october] == ["2026-10-01 00:00:00+05:30", "2026-10-31 23:59:59+05:30"]
    assert ids(rows_of(file_of(export(database_url, seller_id, period="2026-09")))) == [before]
    assert ids(rows_of(file_of(export(database_url, seller_id, period="2026-11")))) == [after]


def test_december_ends_with_the_year() -> None:
    assert selection("1", "2026-12", AS_OF).end == datetime(2026, 12, 31, 18, 30, tzinfo=UTC)


def test_what_was_recorded_after_as_of_is_not_seen(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    known = add_invoice(connection, seller_id, recorded_at=AS_OF)
    late = add_invoice(connection, seller_id, recorded_at=AS_OF + timedelta(microseconds=1))
    assert ids(rows_of(file_of(export(database_url, seller_id)))) == [known]
    tomorrow = AS_OF + timedelta(days=1)
    assert ids(rows_of(file_of(export(database_url, seller_id, as_of=tomorrow)))) == [known, late]


def test_invoices_of_one_moment_are_all_there(database_url: str, small_parts: None) -> None:
    rows = rows_of(file_of(export(database_url)))
    assert sum(row["invoice_date"] == "2026-10-20 12:00:00+05:30" for row in rows) > 700
    assert len(set(ids(rows))) == 2_500


@pytest.mark.parametrize(
    "text",
    [
        "सांकेतिक व्यापार, मुंबई",
        "Two\nlines",
        "Two\r\nlines",
        'Synthetic "Quoted" Stores, Pune',
        "\\.",
        "",
        " leading and trailing ",
        ",INR,1.00,2.00,3.00,4.00,5.00",
        "0012345678901234567890",
        "1E5",
    ],
)
def test_texts_come_back_unchanged(database_url: str, connection: psycopg.Connection, text: str) -> None:
    seller_id = new_seller(connection)
    add_invoice(connection, seller_id, buyer_name=text, irn=text, description=text)
    row = rows_of(file_of(export(database_url, seller_id)))[0]
    assert (row["buyer_name"], row["irn"], row["description"]) == (text, text, text)


def test_amounts_are_exact(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    large, small = "999999999999.99", "0.01"
    for _ in range(3):
        add_invoice(
            connection, seller_id, taxable_value=large, cgst=small, sgst=f"-{small}", igst="-0.10", total=f"-{large}"
        )
    rows = rows_of(file_of(export(database_url, seller_id)))
    assert [[row[name] for name in AMOUNTS] for row in rows] == [[large, small, f"-{small}", "-0.10", f"-{large}"]] * 3


@pytest.mark.parametrize("tenant", ["coastal-crafts", "nobody"])
def test_another_tenants_seller_is_unknown_and_leaves_nothing(database_url: str, tenant: str) -> None:
    performed = export(database_url, tenant=tenant)
    error = failure_of(performed).error
    assert (error.type, error.retryable) == ("UnknownSeller", False)
    assert "48812" in error.message
    assert not performed.objects.contents
    assert not performed.objects.uploads


def test_a_seller_that_does_not_exist_is_unknown(database_url: str) -> None:
    assert failure_of(export(database_url, "999999999999")).error.type == "UnknownSeller"


@pytest.mark.parametrize(
    ("seller_id", "period"),
    [
        ("", "2026-10"),
        ("1234567890123", "2026-10"),
        ("४८८१२", "2026-10"),
        ("48812\n", "2026-10"),
        ("-48812", "2026-10"),
        ("48812", "2026-13"),
        ("48812", "2026-1"),
        ("48812", "२०२६-१०"),
        ("48812", "0000-10"),
    ],
)
def test_args_that_name_no_seller_or_period_are_refused(seller_id: str, period: str) -> None:
    with pytest.raises(InvalidArgs):
        checked_args(Args, {"seller_id": seller_id, "period": period})


def test_members_end_at_their_rows_and_carry_no_time(database_url: str, small_parts: None) -> None:
    members = list(_members(file_of(export(database_url))))
    assert len(members) == 25
    assert members[0].startswith(HEADER)
    assert all(member.startswith(b"48812") for member in members[1:])


def test_progress_names_its_stages_and_never_goes_back(database_url: str, small_parts: None) -> None:
    reports = export(database_url).progress
    assert [each.stage for each in reports if each.stage] == ["counting", "exporting", "finishing"]
    assert [each.done for each in reports] == sorted(each.done for each in reports)
    assert {each.total for each in reports if each.total is not None} == {2_500}
    assert reports[-1].done == 2_500


def test_a_paced_export_waits_between_ranges_for_what_is_left_of_their_time(
    database_url: str, small_parts: None
) -> None:
    unpaced, paced, slow = (export(database_url, rows_per_second=pace) for pace in (None, 120, 20))
    assert not unpaced.waits
    assert len(paced.waits) == 25
    assert all(0.5 < seconds < 100 / 120 for seconds in paced.waits)  # 100 rows at 120 a second, less their reading
    assert all(2 < seconds < 50 / 20 for seconds in slow.waits)
    assert file_of(unpaced) == file_of(paced) == file_of(slow)


def test_what_a_pace_makes_of_ranges_does_not_change_the_bytes() -> None:
    assert gst_export.CUT_ROWS % _invoices.BATCH_ROWS == 0
    assert all(gst_export.MEMBER_ROWS % rows == rows % gst_export.CUT_ROWS == 0 for rows in gst_export.RANGE_ROWS)


def test_a_source_that_does_not_answer_is_a_failure_that_names_no_host() -> None:
    error = failure_of(export("postgresql://secret:password@127.0.0.1:1/nothing")).error
    assert (error.type, error.retryable) == ("SourceFailed", True)
    assert "127.0.0.1" not in error.message


def test_the_export_closes_its_connection(database_url: str, connection: psycopg.Connection) -> None:
    others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    export(database_url, tenant="nobody")
    export(database_url)
    deadline = time.monotonic() + 10  # PostgreSQL notes the end of a session a moment later
    while (left := connection.execute(others).fetchall()[0][0]) and time.monotonic() < deadline:
        pass
    assert left == 0


def _members(file: bytes) -> Iterator[bytes]:
    while file:
        assert file[4:8] == bytes(4), "the header of a member has a time"
        member = zlib.decompressobj(wbits=31)
        yield member.decompress(file)
        assert member.eof
        file = member.unused_data
