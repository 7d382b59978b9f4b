"""A seller's invoices of one tax period, as PostgreSQL writes them in CSV, and what they add up to."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, LiteralString

import msgspec

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn
    from psycopg.sql import Composable

INDIA = timezone(timedelta(hours=5, minutes=30))
"""Tax periods begin and end at midnight in India, which has one time zone and no summer time."""

AMOUNTS = ("taxable_value", "cgst", "sgst", "igst", "total")
TEXTS = (
    "invoice_number",
    "document_type",
    "buyer_name",
    "buyer_gstin",
    "buyer_address",
    "place_of_supply",
    "hsn_code",
    "description",
    "irn",
)
# The amounts come last, after a cell that is the same in every row: so `_batch` finds them without reading the rest.
COLUMNS = ("invoice_id", "invoice_date", *TEXTS, "ack_number", "gst_rate", "currency", *AMOUNTS)
END = b"\r\n"
"""How records end: https://www.rfc-editor.org/rfc/rfc4180#section-2. Texts keep the line ends that they have."""

HEADER = ",".join(COLUMNS).encode() + END
BEFORE_AMOUNTS = b",INR,"

# Cells that a spreadsheet would run as a formula, also after white space and quotes, which it drops; or that begin with
# a tab or a carriage return: https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = (
    r"""^[\u0001-\u0020"'\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*"""
    r"""[-=+@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]|^[\t\r]"""
)

SELECTED: LiteralString = (
    "seller_id = %(seller_id)s AND invoice_date >= %(start)s AND invoice_date < %(end)s AND recorded_at <= %(as_of)s"
)
# Most cells begin with a letter or a digit, which is several times cheaper to see than to match the regular expression.
HARMLESS: LiteralString = (
    "CASE WHEN ascii({cell}) = ANY (%(plain)s::int[]) THEN {cell}"
    " WHEN {cell} ~ %(formula)s THEN '''' || {cell} ELSE {cell} END"
)
PLAIN = [code for code in (*range(0x30, 0x7B), *range(0x904, 0x93A)) if chr(code).isalnum()]

WATCHFUL = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""A server that vanished is noticed within a minute."""

NAP_SECONDS = 0.0003
"""How long the server may fill the socket. To be woken for each of its packets of 8 KB costs both sides more."""

BATCH_ROWS = 250
"""Few enough for the socket to hold the next ones while these are worked on."""


class SourceFailed(Exception):
    """The source of the invoices did not answer as it should. Says no more, since clients may read it."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__(f"the invoices could not be read from their database (SQLSTATE {sqlstate or 'none'})")
        self.sqlstate = sqlstate


class MalformedRows(Exception):
    """Rows cannot be added up."""

    def __init__(self) -> None:
        super().__init__(f"rows of the source do not end in {', '.join(AMOUNTS)}")


@dataclass(frozen=True, kw_only=True)
class Totals:
    """How many invoices there are and, in rupees, the sum of each of AMOUNTS."""

    rows: int = 0
    amounts: tuple[Decimal, ...] = (Decimal("0.00"),) * len(AMOUNTS)

    def __add__(self, other: "Totals") -> "Totals":
        amounts = tuple(mine + theirs for mine, theirs in zip(self.amounts, other.amounts, strict=True))
        return Totals(rows=self.rows + other.rows, amounts=amounts)


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some rows as they go into the file, the id of the last one, and what they add up to."""

    lines: bytes
    last_id: int
    totals: Totals


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A seller's invoices of a period, as they were recorded at a moment."""

    seller_id: str
    start: datetime
    end: datetime
    as_of: datetime


def selection(seller_id: str, period: str, as_of: datetime) -> Selection:
    """The invoices of a tax period like 2026-10."""
    year, month = map(int, period.split("-"))
    start = datetime(year, month, 1, tzinfo=INDIA)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=INDIA)
    return Selection(seller_id=seller_id, start=start, end=end, as_of=as_of)


@contextmanager
def connected(url: str) -> "Iterator[Connection]":
    """A connection that only reads, and writes times as India reads them. Its block raises SourceFailed, too."""
    import psycopg

    try:
        address = psycopg.conninfo.make_conninfo(url, client_encoding="utf8", **WATCHFUL)
        with closing(psycopg.connect(address, autocommit=True)) as connection:
            # By SET: proxies refuse options in the start-up packet.
            connection.execute(
                "SET default_transaction_read_only = on; SET statement_timeout = '120s';"
                "SET DateStyle = 'ISO'; SET TimeZone = 'Asia/Kolkata'"
            )
            yield connection
    except psycopg.Error as error:
        raise SourceFailed(error.sqlstate) from error


def has_seller(connection: "Connection", tenant: str, seller_id: str) -> bool:
    """Whether a tenant has this seller."""
    known = connection.execute("SELECT FROM sellers WHERE seller_id = %s AND tenant = %s", [seller_id, tenant])
    return known.fetchone() is not None


def counted(connection: "Connection", selected: Selection) -> Totals:
    """What PostgreSQL itself counts and adds up."""
    from psycopg.sql import SQL

    sums = SQL(", ").join(SQL("coalesce(sum({}), 0.00)").format(_name(each)) for each in AMOUNTS)
    query = SQL("SELECT count(*), {} FROM invoices WHERE {}").format(sums, SQL(SELECTED))
    rows, *amounts = connection.execute(query, vars(selected)).fetchall()[0]
    return Totals(rows=rows, amounts=tuple(amounts))


def copied(connection: "Connection", selected: Selection, after: int, rows: int) -> Iterator[Batch]:
    """A range of invoices, at most `rows`, from the lowest id above `after` on. Raises SourceFailed, MalformedRows."""
    from psycopg.sql import SQL

    cells = SQL(", ").join(_cell(column) for column in COLUMNS)
    query = SQL(
        "COPY (SELECT {} FROM invoices WHERE {} AND invoice_id > %(after)s ORDER BY invoice_id LIMIT %(rows)s)"
        " TO STDOUT (FORMAT csv)"
    ).format(cells, SQL(SELECTED))
    parameters = {**vars(selected), "after": after, "rows": rows, "formula": FORMULA, "plain": PLAIN}
    with connection.cursor() as cursor, cursor.copy(query, parameters):
        ended = False
        while not ended:
            received, ended = connection.wait(_received(connection.pgconn))
            if received:
                yield _batch(received)


def _batch(records: Sequence[bytes]) -> Batch:
    """Join records, and add up the very bytes that are written."""
    try:
        paise = _paise(b",".join([record.rpartition(BEFORE_AMOUNTS)[2] for record in records]))
    except msgspec.DecodeError as error:
        raise MalformedRows from error
    if len(paise) != len(records) * len(AMOUNTS):
        raise MalformedRows
    sums = (sum(paise[column :: len(AMOUNTS)]) for column in range(len(AMOUNTS)))
    return Batch(
        lines=END.join(records) + END,
        last_id=int(records[-1].partition(b",")[0]),
        totals=Totals(rows=len(records), amounts=tuple(Decimal(each).scaleb(-2) for each in sums)),
    )


def _paise(amounts: bytes) -> list[int]:
    """Amounts in rupees, with commas between them, as whole paise.

    JSON's integers are read four times as fast as `int` reads them; but they allow no zeros at the front.
    """
    amounts = b"," + amounts
    for front, rest in ((b",0.00", b",0"), (b",0.0", b","), (b",0.", b","), (b",-0.0", b",-"), (b",-0.", b",-")):
        amounts = amounts.replace(front, rest)
    return msgspec.json.decode(b"[%b]" % amounts[1:].replace(b".", b""), type=list[int])


# Much cheaper than `Copy.read`, which goes through three Python functions for every row.
def _received(pgconn: "PGconn") -> "PQGen[tuple[list[bytes], bool]]":
    """The next records of the COPY that is going on, without PostgreSQL's line ends; and whether it has ended."""
    from psycopg.errors import error_from_result
    from psycopg.pq import ExecStatus
    from psycopg.waiting import Wait

    records: list[bytes] = []
    for _ in range(BATCH_ROWS):
        size, row = pgconn.get_copy_data(1)
        while size == 0:
            pgconn.consume_input()
            size, row = pgconn.get_copy_data(1)
            if size == 0:
                time.sleep(NAP_SECONDS)  # not for the server, but for more of its packets: see NAP_SECONDS
                yield Wait.R
        if size < 0:
            result = pgconn.get_result()
            if result is not None and result.status != ExecStatus.COMMAND_OK:
                raise error_from_result(result)
            pgconn.get_result()  # None: the connection is ready for the next command
            return records, True
        records.append(row[:-1].tobytes())  # at once, while it is in the processor's cache
    return records, False


def _cell(column: LiteralString) -> "Composable":
    """A column as the file shows it."""
    from psycopg.sql import SQL

    if column == "currency":
        return SQL("'INR'")
    return SQL(HARMLESS if column in TEXTS else "{cell}").format(cell=_name(column))


def _name(column: LiteralString) -> "Composable":
    from psycopg.sql import Identifier

    return Identifier(column)
