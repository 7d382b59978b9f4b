"""The tables of the made-up marketplace."""

from hashlib import sha256
from typing import TYPE_CHECKING, LiteralString

from coatcheck_client.trouble import Trouble

if TYPE_CHECKING:
    import psycopg

OURS = "Coatcheck marketplace, recipe"

# Append-only: a row is never changed, so what was recorded up to a moment is the same whenever it is read.
# UNLOGGED, since nothing here is worth a write-ahead log: a crash of PostgreSQL empties the invoices together with the
# note that they were made, and the next seed makes them again.
SCHEMA: LiteralString = """
CREATE TABLE sellers (
    seller_id text PRIMARY KEY,
    tenant text NOT NULL,
    legal_name text NOT NULL
);
CREATE UNLOGGED TABLE invoices (
    invoice_id bigint NOT NULL,
    seller_id text NOT NULL,
    invoice_date timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    ack_number bigint NOT NULL,
    gst_rate numeric(5, 2) NOT NULL,
    taxable_value numeric(14, 2) NOT NULL,
    cgst numeric(14, 2) NOT NULL,
    sgst numeric(14, 2) NOT NULL,
    igst numeric(14, 2) NOT NULL,
    total numeric(14, 2) NOT NULL,
    invoice_number text NOT NULL,
    document_type text NOT NULL,
    buyer_name text NOT NULL,
    buyer_gstin text,
    buyer_address text NOT NULL,
    place_of_supply text NOT NULL,
    hsn_code text NOT NULL,
    description text NOT NULL,
    irn text NOT NULL
);
CREATE UNLOGGED TABLE seeds (seller_id text PRIMARY KEY, invoices integer NOT NULL);
"""

# The second one is for exports: in the order of the ids, with period and moment checked before a row is fetched; and
# with the amounts in it, so that adding them up needs no row at all.
# Making them after the rows takes a quarter of the time of keeping them up to date row by row.
INDEXES: LiteralString = """
ALTER TABLE invoices ADD CONSTRAINT invoices_pkey PRIMARY KEY (invoice_id);
CREATE INDEX invoices_by_seller ON invoices (seller_id, invoice_id, invoice_date, recorded_at)
    INCLUDE (taxable_value, cgst, sgst, igst, total);
"""
NO_INDEXES: LiteralString = """
ALTER TABLE invoices DROP CONSTRAINT IF EXISTS invoices_pkey;
DROP INDEX IF EXISTS invoices_by_seller;
"""


class ForeignTables(Trouble):
    """The database has tables of these names that were not made here, so they are left alone."""

    def __init__(self) -> None:
        super().__init__(
            "the database has tables that were not made by this version",
            hint="the local stack's database is in .local: `make clean` removes it",
        )


def make_tables(connection: "psycopg.Connection", *, recipe: str) -> None:
    """Make the tables, and make them anew if they are of another recipe. Raises ForeignTables.

    `recipe` says how the rows are made; a digest of it, the schema and the indexes is kept as the comment on a table.
    """
    from psycopg.sql import SQL

    wanted = f"{OURS} {sha256(f'{SCHEMA} {INDEXES} {recipe}'.encode()).hexdigest()}"
    query = "SELECT to_regclass('sellers') IS NOT NULL, obj_description(to_regclass('sellers'), 'pg_class')"
    exists, found = connection.execute(query).fetchall()[0]
    if found == wanted:
        return
    if exists and not (found or "").startswith(OURS):
        raise ForeignTables
    connection.execute("DROP TABLE IF EXISTS seeds, invoices, sellers")
    connection.execute(SCHEMA)
    connection.execute(SQL("COMMENT ON TABLE sellers IS {}").format(wanted))
