"""Export a seller's invoices of one tax period to one compressed CSV file."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec

from coatcheck import JobContext, Meta, Output, Result, Retry, Upload, job
from jobs._invoices import (
    AMOUNTS,
    HEADER,
    Selection,
    SourceFailed,
    Totals,
    connected,
    copied,
    counted,
    has_seller,
    selection,
)
from jobs._members import Members

if TYPE_CHECKING:
    from psycopg import Connection

MEMBER_ROWS = 100_000
"""A gzip member ends after so many rows, counted from the first: the same rows give the same bytes, resumed or not."""

RANGE_ROWS = (50_000, 25_000, 10_000, 5_000, 2_500)
"""What one COPY reads: the most that the pace, which is kept between ranges, allows in a second."""

CUT_ROWS = 2_500
"""So many rows are compressed at once. Divides the numbers above, so that the pace does not change the bytes."""

PART_BYTES = 5 * 1024 * 1024
"""The least that S3 takes as a part. A part is a whole number of members, and a checkpoint follows it."""


class UnknownSeller(Exception):
    """The tenant has no such seller: it does not exist, or belongs to somebody else."""

    def __init__(self, seller_id: str) -> None:
        super().__init__(f"there is no seller {seller_id}")
        self.seller_id = seller_id


class TotalsDisagree(Exception):
    """The file does not hold what the database counted when the export began."""

    def __init__(self, *, expected: Totals, written: Totals) -> None:
        super().__init__(
            f"expected {expected.rows:,} invoices adding up to {_listed(expected)},"
            f" but wrote {written.rows:,} adding up to {_listed(written)}"
        )
        self.expected = expected
        self.written = written


@dataclass(frozen=True, kw_only=True)
class Args:
    seller_id: Annotated[str, Meta(pattern=r"^[0-9]{1,12}$", examples=["48811"])]
    period: Annotated[str, Meta(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$", examples=["2026-10"])]


@dataclass(frozen=True, kw_only=True)
class Position:
    """After which invoice the export is, and what the rows up to there add up to."""

    last_id: int = 0
    totals: Totals = field(default_factory=Totals)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A range of rows in CSV, cut for the compressor; the position after it; and whether no rows follow."""

    cuts: tuple[bytes, ...]
    at: Position
    last: bool


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """`sealed`: every part is put and the totals are checked, so nothing is left but to complete the upload."""

    expected: Totals | None = None
    at: Position = field(default_factory=Position)
    upload: Upload | None = None
    sealed: bool = False


def check_period(args: Args, now: datetime) -> None:
    """A period that has not begun has no invoices yet; one that has not ended may be asked for."""
    if selection(args.seller_id, args.period, now).start > now:
        raise ValueError(f"the period {args.period} has not begun")


@job(
    route="/v1/reports/gst-export",
    validate=check_period,
    unique=("seller_id", "period"),
    timeout=timedelta(minutes=30),
    retry=Retry(failures=5, give_up_on=(UnknownSeller,)),
)
def gst_export(ctx: JobContext, args: Args) -> Result:
    cursor = ctx.resume(Cursor())
    name = f"gst-{args.seller_id}-{args.period}.csv.gz"
    out = ctx.output(name, content_type="application/gzip", resume=cursor.upload)
    if out.rewound is not None:
        at = msgspec.convert(out.rewound, Position)
        ctx.log.warning("a part is lost and written again", rows=at.totals.rows)
        cursor = replace(cursor, at=at, upload=out.upload, sealed=False)
    if not cursor.sealed:
        try:
            cursor = _written(ctx, args, cursor, out)
        except SourceFailed as failure:
            ctx.log.warning("the source failed", cause=str(failure.__cause__))
            raise
    ctx.progress(done=cursor.at.totals.rows, stage="finishing")
    return Result(file=out.complete(), rows=cursor.at.totals.rows)


def _written(ctx: JobContext, args: Args, cursor: Cursor, out: Output) -> Cursor:
    """Write what is missing, check all of it, and put the last part. Raises UnknownSeller, TotalsDisagree."""
    selected = selection(args.seller_id, args.period, ctx.as_of)
    with connected(ctx.source.url) as connection:
        if not has_seller(connection, ctx.tenant, args.seller_id):
            raise UnknownSeller(args.seller_id)
        ctx.progress(done=0, stage="counting")
        expected = cursor.expected or counted(connection, selected)
        ctx.progress(done=0, total=expected.rows, stage="exporting")
        cursor, at = _exported(ctx, selected, replace(cursor, expected=expected), out, connection)
    if at.totals != expected:
        if at.totals.rows > expected.rows:  # committed late, below `as_of`: the next attempt counts and writes anew
            ctx.checkpoint(Cursor())
        raise TotalsDisagree(expected=expected, written=at.totals)
    if out.upload is None:  # too small for parts: completing stores it as one object
        return replace(cursor, at=at)
    upload = out.put_part(cursor.at) if out.pending else out.upload
    cursor = replace(cursor, at=at, upload=upload, sealed=True)
    ctx.checkpoint(cursor)
    return cursor


def _exported(
    ctx: JobContext, selected: Selection, cursor: Cursor, out: Output, connection: "Connection"
) -> tuple[Cursor, Position]:
    """Write all from the cursor on; the cursor returned is at the start of what is not yet put.

    A thread reads a range while the one before it is compressed and put.
    """
    pace = ctx.source.rows_per_second
    rows = next((rows for rows in RANGE_ROWS if pace is None or rows <= pace), RANGE_ROWS[-1])
    read = partial(_read, connection, selected, rows)
    members = Members(out.write)
    at, last = cursor.at, False
    if at == Position():
        members.write(HEADER)
    with ThreadPoolExecutor(max_workers=1) as reader:
        started, reading = time.monotonic(), reader.submit(read, at)
        while not last:
            piece = reading.result()
            at, last = piece.at, piece.last
            if not last:
                if pace is not None:
                    ctx.wait(max(0.0, started + rows / pace - time.monotonic()))
                started, reading = time.monotonic(), reader.submit(read, at)
            for cut in piece.cuts:
                members.write(cut)
            if last or at.totals.rows % MEMBER_ROWS == 0:
                members.end()
            ctx.progress(done=at.totals.rows)
            if at.totals.rows % MEMBER_ROWS == 0 and out.pending >= PART_BYTES:
                cursor = replace(cursor, at=at, upload=out.put_part(cursor.at))
                ctx.checkpoint(cursor)
    return cursor, at


def _read(connection: "Connection", selected: Selection, rows: int, start: Position) -> Piece:
    """The range after a position."""
    at, cuts, lines = start, [], []
    for batch in copied(connection, selected, start.last_id, rows):
        lines.append(batch.lines)
        at = Position(last_id=batch.last_id, totals=at.totals + batch.totals)
        if at.totals.rows % CUT_ROWS == 0:
            cuts.append(b"".join(lines))
            lines.clear()
    if lines:
        cuts.append(b"".join(lines))
    return Piece(cuts=tuple(cuts), at=at, last=at.totals.rows < start.totals.rows + rows)


def _listed(totals: Totals) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in zip(AMOUNTS, totals.amounts, strict=True))
