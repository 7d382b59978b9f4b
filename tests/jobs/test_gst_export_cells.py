import psycopg
import pytest

from jobs._invoices import AMOUNTS, COLUMNS, HEADER, TEXTS
from tests.jobs.exports import add_invoice, export, file_of, new_seller, rows_of

FORMULAS = [
    "=1+1",
    "+1",
    "-1+2",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\tplain text after a tab",
    "\rplain text after a carriage return",
    '"=1+1',
    "'=1+1",
    "  =1+1",
    ' "  -1+2',
    "\N{NO-BREAK SPACE}=1+1",
    "\N{IDEOGRAPHIC SPACE}=1+1",
    "\N{ZERO WIDTH SPACE}=1+1",
    "\N{ZERO WIDTH NO-BREAK SPACE}=1+1",
    "\N{FULLWIDTH EQUALS SIGN}1+1",
    "\N{FULLWIDTH PLUS SIGN}1",
    "\N{FULLWIDTH HYPHEN-MINUS}1",
    "\N{FULLWIDTH COMMERCIAL AT}SUM(A1)",
    "\N{SMALL EQUALS SIGN}1+1",
    '=HYPERLINK("http://example.invalid","a,b\nc")',
    "-5",
]
HARMLESS = ["", " ", "a=1", "1-2", "(=1)", "_=1", "देव=1", "é=1", "e-mail@example.invalid", "\N{CURRENCY SIGN}-1", "#=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(
    database_url: str, connection: psycopg.Connection, text: str
) -> None:
    seller_id = new_seller(connection)
    add_invoice(connection, seller_id, **dict.fromkeys(TEXTS, text))
    row = rows_of(file_of(export(database_url, seller_id)))[0]
    assert list(row) == list(COLUMNS)
    assert {row[name] for name in TEXTS} == {f"'{text}"}


@pytest.mark.parametrize("text", HARMLESS)
def test_other_cells_are_left_alone(database_url: str, connection: psycopg.Connection, text: str) -> None:
    seller_id = new_seller(connection)
    add_invoice(connection, seller_id, **dict.fromkeys(TEXTS, text))
    row = rows_of(file_of(export(database_url, seller_id)))[0]
    assert {row[name] for name in TEXTS} == {text}


def test_negative_amounts_stay_numbers(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    amounts = dict.fromkeys(AMOUNTS, "-12.50")
    add_invoice(connection, seller_id, gst_rate=-3, **amounts)
    row = rows_of(file_of(export(database_url, seller_id)))[0]
    assert {name: row[name] for name in AMOUNTS} == amounts
    assert row["gst_rate"] == "-3.00"


def test_a_missing_gstin_is_an_empty_cell(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    add_invoice(connection, seller_id, buyer_gstin=None)
    assert rows_of(file_of(export(database_url, seller_id)))[0]["buyer_gstin"] == ""


def test_the_header_names_columns_and_runs_nothing() -> None:
    assert HEADER.decode().removesuffix("\r\n").split(",") == list(COLUMNS)
    assert all(name.isidentifier() for name in COLUMNS)
