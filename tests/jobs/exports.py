"""What the tests of the export share: how they run it, read its file, and add invoices of their own."""

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count

import psycopg
from psycopg.sql import SQL, Identifier, Placeholder

from coatcheck import Source
from coatcheck.endings import Interrupt
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Failed, Succeeded
from coatcheck.testing import Performed, perform
from coatcheck_client import marketplace
from jobs.gst_export import gst_export

AS_OF = datetime(2026, 11, 28, tzinfo=UTC)
_SELLER_IDS = count(600_000)


def export(
    database_url: str | None,
    seller_id: str = marketplace.BIG_SELLER,
    *,
    period: str = marketplace.PERIOD,
    tenant: str = "bharat-bazaar",
    as_of: datetime = AS_OF,
    cursor: str | None = None,
    attempt: int = 1,
    objects: MemoryObjects | None = None,
    rows_per_second: int | None = None,
    at_checkpoint: Callable[[int], Interrupt | None] = lambda _: None,
) -> Performed:
    source = database_url and Source(url=database_url, rows_per_second=rows_per_second)
    return perform(
        gst_export,
        {"seller_id": seller_id, "period": period},
        tenant=tenant,
        attempt=attempt,
        as_of=as_of,
        cursor=cursor,
        source=source or None,
        objects=objects,
        at_checkpoint=at_checkpoint,
    )


def file_of(performed: Performed) -> bytes:
    """The bytes of the file that a job handed back."""
    assert isinstance(performed.outcome, Succeeded), performed.outcome
    file = performed.outcome.result.file
    assert file is not None
    return performed.objects.contents[file.key]


def rows_of(file: bytes) -> list[dict[str, str]]:
    """What a plain gzip and CSV reader makes of it."""
    text = io.StringIO(gzip.decompress(file).decode(), newline="")
    return list(csv.DictReader(text, strict=True))


def failure_of(performed: Performed) -> Failed:
    assert isinstance(performed.outcome, Failed), performed.outcome
    return performed.outcome


def new_seller(connection: psycopg.Connection, tenant: str = "bharat-bazaar") -> str:
    """A seller of a test's own, without invoices."""
    seller_id = str(next(_SELLER_IDS))
    connection.execute("INSERT INTO sellers VALUES (%s, %s, 'Synthetic Seller')", [seller_id, tenant])
    return seller_id


def add_invoice(connection: psycopg.Connection, seller_id: str, **cells: object) -> int:
    """An invoice of 118 rupees in the period, but for the cells given; returns its id."""
    row = {
        "invoice_id": _next_id(connection, seller_id),
        "seller_id": seller_id,
        "invoice_number": "SYN/T/1",
        "document_type": "invoice",
        "invoice_date": datetime(2026, 10, 15, 6, 30, tzinfo=UTC),
        "recorded_at": datetime(2026, 10, 15, 6, 31, tzinfo=UTC),
        "buyer_name": "Synthetic Buyer",
        "buyer_gstin": None,
        "buyer_address": "Testnagar",
        "place_of_supply": "27-Maharashtra",
        "hsn_code": "610910",
        "description": "Specimen",
        "irn": "0" * 64,
        "ack_number": 112610000000000,
        "gst_rate": 18,
        "taxable_value": 100,
        "cgst": 9,
        "sgst": 9,
        "igst": 0,
        "total": 118,
        **cells,
    }
    columns, values = SQL(", ").join(map(Identifier, row)), SQL(", ").join(map(Placeholder, row))
    query = SQL("INSERT INTO invoices ({}) VALUES ({}) RETURNING invoice_id").format(columns, values)
    invoice_id: int = connection.execute(query, row).fetchall()[0][0]
    return invoice_id


def add_invoices(connection: psycopg.Connection, seller_id: str, count: int) -> list[int]:
    """Invoices of 118 rupees in the period, whose texts do not compress; returns their ids, ten apart."""
    connection.execute(
        "INSERT INTO invoices SELECT %(first)s + 10 * n, %(seller)s, timestamptz '2026-10-15',"
        " timestamptz '2026-10-16', 112610000000000 + n, 18, 100, 9, 9, 0, 118, 'SYN/T/' || n, 'invoice',"
        " 'Synthetic Buyer', NULL, 'Testnagar', '27-Maharashtra', '610910', encode(sha512(int8send(n)), 'hex'),"
        " encode(sha256(int8send(n)), 'hex')"
        " FROM generate_series(0, %(count)s - 1::bigint) AS n",
        {"first": (first := _next_id(connection, seller_id)), "seller": seller_id, "count": count},
    )
    return list(range(first, first + 10 * count, 10))


def _next_id(connection: psycopg.Connection, seller_id: str) -> int:
    query = "SELECT coalesce(max(invoice_id), %s) + 10 FROM invoices WHERE seller_id = %s"
    next_id: int = connection.execute(query, [int(seller_id) * 100_000_000, seller_id]).fetchall()[0][0]
    return next_id


def ids(rows: Sequence[dict[str, str]]) -> list[int]:
    return [int(row["invoice_id"]) for row in rows]
