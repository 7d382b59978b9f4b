"""A made-up Indian marketplace in PostgreSQL: sellers, their tenants and their invoices, for the demo and the tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    import psycopg

BIG_SELLER = "48812"
BIG_SELLER_INVOICES = 1_000_000
PERIOD = "2026-10"
_INDIA = timezone(timedelta(hours=5, minutes=30))


@dataclass(frozen=True, kw_only=True)
class Seller:
    """A seller, and how many invoices it has in `PERIOD` (two more lie just outside of it)."""

    seller_id: str
    tenant: str
    legal_name: str
    invoices: int


SELLERS = (
    Seller(
        seller_id=BIG_SELLER, tenant="bharat-bazaar", legal_name="Synthetic Traders (big)", invoices=BIG_SELLER_INVOICES
    ),
    Seller(seller_id="48810", tenant="bharat-bazaar", legal_name="Synthetic Traders (none)", invoices=0),
    Seller(seller_id="48811", tenant="bharat-bazaar", legal_name="Synthetic Traders (one)", invoices=1),
    Seller(seller_id="48813", tenant="bharat-bazaar", legal_name="Synthetic Traders (small)", invoices=2_000),
    Seller(seller_id="7001", tenant="coastal-crafts", legal_name="Synthetic Crafts (large)", invoices=100_000),
    Seller(seller_id="7002", tenant="coastal-crafts", legal_name="Synthetic Crafts (few)", invoices=40),
    Seller(seller_id="9001", tenant="hill-spices", legal_name="Synthetic Spices (few)", invoices=25),
)
TENANTS = tuple(dict.fromkeys(seller.tenant for seller in SELLERS))

# Texts that a CSV file must carry unchanged, and such as a spreadsheet would run.
_ODD_TEXTS = [
    "Synthetic, Comma & Sons",
    'Synthetic "Quoted" Stores',
    "Synthetic\nTwo Lines",
    "Synthetic\r\nTwo Lines",
    "Synthetic\rCarriage",
    "सांकेतिक व्यापार, मुंबई",
    'कृत्रिम "उद्धृत" भंडार',
    "=1+1 (synthetic)",
    "+91 00000 00000 (synthetic)",
    "-1+2 (synthetic)",
    "@SUM(A1:A9) (synthetic)",
    "\t=1+1 (synthetic)",
    "\r=1+1 (synthetic)",
    '"=1+1" (synthetic)',
    "\N{FULLWIDTH EQUALS SIGN}1+1 (synthetic)",
    "\N{FULLWIDTH PLUS SIGN}1 (synthetic)",
    "\N{FULLWIDTH HYPHEN-MINUS}1 (synthetic)",
    "\N{FULLWIDTH COMMERCIAL AT}SUM(A1) (synthetic)",
    "  =1+1 (synthetic)",
    "' OR 1=1; -- (synthetic)",
]

# Append-only: a row is never changed, so what was recorded up to a moment is the same whenever it is read.
# UNLOGGED, since nothing here is worth a write-ahead log: a crash of PostgreSQL empties the invoices together with the
# note that they were made, and the next seed makes them again.
_SCHEMA: LiteralString = """
CREATE TABLE IF NOT EXISTS sellers (
    seller_id text PRIMARY KEY,
    tenant text NOT NULL,
    legal_name text NOT NULL
);
CREATE UNLOGGED TABLE IF NOT EXISTS invoices (
    invoice_id bigint NOT NULL,
    seller_id text NOT NULL,
    invoice_number text NOT NULL,
    order_number text NOT NULL,
    document_type text NOT NULL,
    invoice_date timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    buyer_name text NOT NULL,
    buyer_gstin text,
    buyer_address text NOT NULL,
    place_of_supply text NOT NULL,
    hsn_code text NOT NULL,
    description text NOT NULL,
    irn text NOT NULL,
    quantity integer NOT NULL,
    gst_rate numeric(5, 2) NOT NULL,
    taxable_value numeric(14, 2) NOT NULL,
    cgst numeric(14, 2) NOT NULL,
    sgst numeric(14, 2) NOT NULL,
    igst numeric(14, 2) NOT NULL,
    total numeric(14, 2) NOT NULL
);
CREATE UNLOGGED TABLE IF NOT EXISTS seeds (seller_id text PRIMARY KEY, invoices integer NOT NULL);
"""

# The second one is for exports: in the order of the ids, with period and moment checked before a row is fetched.
# Making them after the rows takes a quarter of the time of keeping them up to date row by row.
_INDEXES: LiteralString = """
ALTER TABLE invoices ADD CONSTRAINT invoices_pkey PRIMARY KEY (invoice_id);
CREATE INDEX invoices_by_seller ON invoices (seller_id, invoice_id, invoice_date, recorded_at);
"""
_NO_INDEXES: LiteralString = """
ALTER TABLE invoices DROP CONSTRAINT IF EXISTS invoices_pkey;
DROP INDEX IF EXISTS invoices_by_seller;
"""

# Everything follows from the number n of an invoice. The first and the last lie a second before the period and at its
# end, the second and the last but one on the first and the last second inside; three in ten share one moment of a
# flash sale; some are recorded two weeks late. OFFSET 0 keeps PostgreSQL from computing inner columns once per use.
_INVOICES: LiteralString = """
INSERT INTO invoices
SELECT %(first_id)s + 10 * n,
    %(seller_id)s,
    'SYN/26-27/' || lpad(n::text, 7, '0'),
    '000-' || n * 48271 %% 8999999 + 1000000 || '-' || n * 16807 %% 8999993 + 1000000,
    CASE WHEN sign < 0 THEN 'credit note' ELSE 'invoice' END,
    invoiced,
    least(
        invoiced + CASE WHEN n %% 200 = 5 THEN interval '15 days' ELSE interval '4 minutes' END,
        now() - interval '1 hour'
    ),
    coalesce(
        (%(odd)s::text[])[n %% 600 + 1],
        (%(buyers)s::text[])[n %% 5 + 1] || ' ' || n * 7919 %% 100003 || ' (synthetic)'
    ),
    CASE WHEN n %% 3 > 0
        THEN substr(place, 1, 2) || 'SYNTH' || lpad((n * 31 %% 10000)::text, 4, '0') || 'A1Z' || n %% 10
    END,
    'Shop ' || n * 17 %% 991 + 1 || ', ' || (%(trees)s::text[])[n %% 4 + 1] || ' Road, Sector ' || n * 13 %% 89 + 1
        || ', Ward ' || n * 29 %% 211 + 1 || ', Testnagar ' || 400000 + n * 37 %% 99991,
    place,
    lpad((n * 389 %% 9000 + 610000)::text, 6, '0'),
    coalesce(
        (%(odd)s::text[])[(n + 300) %% 600 + 1],
        (%(goods)s::text[])[n %% 7 + 1] || ', lot ' || n * 611 %% 9973 || ', SKU ' || n * 104729 %% 999983
            || ' (synthetic)'
    ),
    encode(sha256(int8send(%(first_id)s + n)), 'hex'),
    n %% 9 + 1,
    rate,
    sign * taxable * 0.01,
    sign * half * 0.01,
    sign * half * 0.01,
    sign * whole * 0.01,
    sign * (taxable + 2 * half + whole) * 0.01
FROM (
    SELECT *,
        CASE WHEN home THEN taxable * rate / 200 ELSE 0 END AS half,
        CASE WHEN home THEN 0 ELSE taxable * rate / 100 END AS whole
    FROM (
        SELECT n,
            CASE WHEN n %% 50 = 7 THEN -1 ELSE 1 END AS sign,
            n * 7919 %% 4999999 + 101 AS taxable,
            (ARRAY[0, 5, 18, 40])[n %% 4 + 1] AS rate,
            n %% 5 < 2 AS home,
            (%(places)s::text[])[n %% 5 + 1] AS place,
            CASE
                WHEN n = 1 THEN %(start)s - interval '1 second'
                WHEN n = %(count)s + 2 THEN %(end)s
                WHEN n = 2 THEN %(start)s
                WHEN n = %(count)s + 1 THEN %(end)s - interval '1 second'
                WHEN n %% 10 IN (3, 4, 5) THEN timestamptz '2026-10-20 12:00:00+05:30'
                ELSE %(start)s + n * 2678000 / (%(count)s + 2) * interval '1 second'
            END AS invoiced
        FROM generate_series(1, %(count)s::bigint + 2) AS n
        OFFSET 0
    ) AS numbered
    OFFSET 0
) AS priced
"""
_WORDS = {
    "odd": _ODD_TEXTS,
    "buyers": ["Synthetic Kirana", "Example Textiles", "Sample Electronics", "Specimen Hardware", "Placeholder Books"],
    "trees": ["Lotus", "Banyan", "Neem", "Mango"],
    "places": ["27-Maharashtra", "27-Maharashtra", "29-Karnataka", "33-Tamil Nadu", "07-Delhi"],
    "goods": [
        "Cotton kurta, hand printed, assorted sizes",
        "Stainless steel tiffin, 3 tiers, 1.2 l",
        "LED lamp 9 W, 6500 K, B22",
        "Notebook, ruled, 180 pages",
        "Turmeric powder, 500 g pouch",
        "Phone cover, clear",
        "Pressure cooker 5 l, induction base",
    ],
}


def seed(database_url: str, scale: int = BIG_SELLER_INVOICES, sellers: Iterable[Seller] = SELLERS) -> None:
    """Fill the marketplace; `scale` is the number of invoices of the big seller. What is as wanted is left alone."""
    import psycopg

    with psycopg.connect(database_url) as connection:
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SELECT pg_advisory_xact_lock(48812)")  # of two seeds at once the second finds the work done
        connection.execute(_SCHEMA)
        seeded: dict[str, int] = dict(connection.execute("SELECT seller_id, invoices FROM seeds").fetchall())
        wanted = {seller: scale if seller.seller_id == BIG_SELLER else seller.invoices for seller in sellers}
        changed = {seller: count for seller, count in wanted.items() if seeded.get(seller.seller_id) != count}
        if not changed:
            return
        connection.execute(_NO_INDEXES)
        connection.execute(
            "DELETE FROM invoices WHERE seller_id = ANY(%s)", [list(seeded.keys() & {s.seller_id for s in changed})]
        )
        for seller, count in changed.items():
            _seed_seller(connection, seller, count)
        connection.execute(_INDEXES)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) invoices")


def _seed_seller(connection: "psycopg.Connection", seller: Seller, count: int) -> None:
    connection.execute(
        "INSERT INTO sellers VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [seller.seller_id, seller.tenant, seller.legal_name],
    )
    connection.execute(
        _INVOICES,
        {
            "seller_id": seller.seller_id,
            "count": count,
            "first_id": int(seller.seller_id) * 100_000_000,  # room for ten million invoices, ten ids apart
            "start": datetime(2026, 10, 1, tzinfo=_INDIA),
            "end": datetime(2026, 11, 1, tzinfo=_INDIA),
            **_WORDS,
        },
    )
    connection.execute(
        "INSERT INTO seeds VALUES (%s, %s) ON CONFLICT (seller_id) DO UPDATE SET invoices = excluded.invoices",
        [seller.seller_id, count],
    )
