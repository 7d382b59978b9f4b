"""A made-up Indian marketplace in PostgreSQL: sellers, their tenants and their invoices, for the demo and the tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, LiteralString

from coatcheck_client.marketplace_tables import INDEXES, NO_INDEXES, make_tables

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

# Everything follows from the number n of an invoice. The first and the last lie a second before the period and at its
# end, the second and the last but one on the first and the last second inside; three in ten share one moment of a
# flash sale; some are recorded two weeks late. OFFSET 0 keeps PostgreSQL from computing inner columns once per use.
_INVOICES: LiteralString = """
INSERT INTO invoices
SELECT %(first_id)s + 10 * n,
    %(seller_id)s,
    invoiced,
    least(
        invoiced + CASE WHEN n %% 200 = 5 THEN interval '15 days' ELSE interval '4 minutes' END,
        now() - interval '1 hour'
    ),
    112610000000000 + n * 48271 %% 9999999967,
    rate,
    sign * taxable * 0.01,
    sign * half * 0.01,
    sign * half * 0.01,
    sign * whole * 0.01,
    sign * (taxable + 2 * half + whole) * 0.01,
    'SYN/26-27/' || lpad(n::text, 7, '0'),
    CASE WHEN sign < 0 THEN 'credit note' ELSE 'invoice' END,
    coalesce(
        (%(odd)s::text[])[n %% 600 + 1],
        (%(buyers)s::text[])[n %% 5 + 1] || ' ' || n * 7919 %% 100003 || ' (synthetic)'
    ),
    CASE WHEN n %% 3 > 0
        THEN substr(place, 1, 2) || 'SYNTH' || lpad((n * 31 %% 10000)::text, 4, '0') || 'A1Z' || n %% 10
    END,
    'Shop ' || n * 17 %% 991 + 1 || ', ' || (%(trees)s::text[])[n %% 4 + 1] || ' Road, Sector ' || n * 13 %% 89 + 1
        || ', Ward ' || n * 29 %% 211 + 1 || ', Testnagar, Specimen District, PIN ' || 400000 + n * 37 %% 99991,
    place,
    lpad((n * 389 %% 9000 + 610000)::text, 6, '0'),
    coalesce(
        (%(odd)s::text[])[(n + 300) %% 600 + 1],
        (%(goods)s::text[])[n %% 7 + 1] || ', lot ' || n * 611 %% 9973 || ', SKU ' || n * 104729 %% 999983
            || ' (synthetic)'
    ),
    encode(sha256(int8send(%(first_id)s + n)), 'hex')
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
    """Fill the marketplace; `scale` is the number of invoices of the big seller. What is as wanted is left alone.

    Raises ForeignTables.
    """
    import psycopg

    with psycopg.connect(database_url) as connection:
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SELECT pg_advisory_xact_lock(48812)")  # of two seeds at once the second finds the work done
        make_tables(connection, recipe=f"{_INVOICES} {_WORDS}")
        seeded: dict[str, int] = dict(connection.execute("SELECT seller_id, invoices FROM seeds").fetchall())
        wanted = {seller: scale if seller.seller_id == BIG_SELLER else seller.invoices for seller in sellers}
        changed = {seller: count for seller, count in wanted.items() if seeded.get(seller.seller_id) != count}
        if not changed:
            return
        connection.execute(NO_INDEXES)
        outdated = [seller.seller_id for seller in changed if seller.seller_id in seeded]
        connection.execute("DELETE FROM invoices WHERE seller_id = ANY(%s)", [outdated])
        for seller, count in changed.items():
            _seed_seller(connection, seller, count)
        connection.execute(INDEXES)
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
