"""Counts and totals of an export, from the file and from the database it was made of."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

from coatcheck_client.trouble import ExitCode, Trouble

_AMOUNTS = ("taxable_value", "cgst", "sgst", "igst", "total")
# Tax periods begin and end at midnight there.
_INDIA = ZoneInfo("Asia/Kolkata")


@dataclass(frozen=True, kw_only=True)
class Totals:
    rows: int
    amounts: dict[str, Decimal]

    def items(self) -> Iterator[tuple[str, int | Decimal]]:
        yield "rows", self.rows
        yield from self.amounts.items()


class Damaged(Trouble):
    """The file is not a whole gzip file of CSV rows."""

    exit_code = ExitCode.JOB_FAILED

    def __init__(self, file: Path, why: object) -> None:
        super().__init__(f"{file} is damaged: {why}")


def file_totals(file: Path) -> Totals:
    """Read all members of a `.csv.gz` file, checksums included. Raises Damaged."""
    rows, cents = 0, dict.fromkeys(_AMOUNTS, 0)
    try:
        with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
            reader = csv.reader(text, strict=True)
            header = next(reader)
            columns = [(name, header.index(name)) for name in _AMOUNTS]
            for row in reader:
                rows += 1
                for name, column in columns:
                    # digits without the point: whole paise add up faster than decimals, and as exactly
                    cents[name] += int(row[column].replace(".", ""))
    except (OSError, EOFError, ValueError, csv.Error, StopIteration) as error:
        raise Damaged(file, error) from error
    return Totals(rows=rows, amounts={name: Decimal(paise).scaleb(-2) for name, paise in cents.items()})


def source_totals(database_url: str, seller_id: str, period: str) -> Totals:
    """The same of the rows that the database has for a seller's period, `2026-10`."""
    import psycopg

    year, month = map(int, period.split("-"))
    start = datetime(year, month, 1, tzinfo=_INDIA)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=_INDIA)
    sums = ", ".join(f"coalesce(sum({name}), 0.00)" for name in _AMOUNTS)
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            psycopg.sql.SQL(
                f"SELECT count(*), {sums} FROM invoices"  # noqa: S608 (names from the constant above)
                " WHERE seller_id = %s AND invoice_date >= %s AND invoice_date < %s"
            ),
            [seller_id, start, end],
        ).fetchone()
    count, *amounts = row or (0, *[Decimal()] * len(_AMOUNTS))
    return Totals(rows=count, amounts=dict(zip(_AMOUNTS, amounts, strict=True)))
