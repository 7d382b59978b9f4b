from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from coatcheck_client import marketplace
from coatcheck_client.marketplace_tables import ForeignTables
from tests.jobs.conftest import SELLERS

OTHERS = tuple(seller for seller in SELLERS if seller.seller_id != marketplace.BIG_SELLER)


@pytest.fixture
def empty_url(connection: psycopg.Connection, database_url: str) -> Iterator[str]:
    """A database of a test's own."""
    connection.execute("CREATE DATABASE seeding")
    yield psycopg.conninfo.make_conninfo(database_url, dbname="seeding")
    connection.execute("DROP DATABASE seeding")


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def in_period(url: str) -> dict[str, int]:
    counts = ask(
        url,
        "SELECT seller_id, count(*) FROM invoices WHERE invoice_date >= '2026-10-01 00:00+05:30'"
        " AND invoice_date < '2026-11-01 00:00+05:30' GROUP BY seller_id",
    )
    return dict(counts)


def test_sellers_have_the_invoices_that_are_promised(database_url: str) -> None:
    expected = {seller.seller_id: seller.invoices for seller in OTHERS if seller.invoices} | {"48812": 2_500}
    assert expected.items() <= in_period(database_url).items()


def test_the_marketplace_has_the_tenants_and_sizes_of_the_demo() -> None:
    assert len(marketplace.TENANTS) == 3
    assert {0, 1, 2_000, 100_000, 1_000_000} <= {seller.invoices for seller in marketplace.SELLERS}
    [big] = [seller for seller in marketplace.SELLERS if seller.seller_id == "48812"]
    assert big.invoices == marketplace.BIG_SELLER_INVOICES == 1_000_000


def test_seeding_again_changes_nothing_and_another_scale_only_the_big_seller(empty_url: str) -> None:
    versions = "SELECT invoice_id, xmin::text FROM invoices WHERE (seller_id = '48812') = {} ORDER BY 1"
    marketplace.seed(empty_url, 50, SELLERS)
    big, others = ask(empty_url, versions.format("true")), ask(empty_url, versions.format("false"))
    marketplace.seed(empty_url, 50, SELLERS)
    assert ask(empty_url, versions.format("true")) == big
    marketplace.seed(empty_url, 70, SELLERS)
    assert ask(empty_url, versions.format("false")) == others
    assert in_period(empty_url)["48812"] == 70


def test_the_same_scale_gives_the_same_rows_everywhere(empty_url: str, database_url: str) -> None:
    marketplace.seed(empty_url, 2_500, SELLERS)
    digest = "SELECT md5(string_agg(invoices::text, ',' ORDER BY invoice_id)) FROM invoices WHERE seller_id = '48812'"
    assert ask(empty_url, digest) == ask(database_url, digest)


def test_tables_of_an_older_recipe_are_made_anew_and_foreign_ones_left_alone(empty_url: str) -> None:
    marketplace.seed(empty_url, 50, SELLERS)
    with psycopg.connect(empty_url) as connection:
        connection.execute("ALTER TABLE invoices DROP COLUMN irn")
        connection.execute("COMMENT ON TABLE sellers IS 'Coatcheck marketplace, recipe of yesterday'")
    marketplace.seed(empty_url, 50, SELLERS)
    assert len(ask(empty_url, "SELECT irn FROM invoices WHERE seller_id = '48812'")) == 52
    with psycopg.connect(empty_url) as connection:
        connection.execute("COMMENT ON TABLE sellers IS NULL")
    with pytest.raises(ForeignTables):
        marketplace.seed(empty_url, 50, SELLERS)


def test_the_data_says_that_it_is_made_up(database_url: str) -> None:
    honest = "buyer_name ~* 'synthetic|सांकेतिक|कृत्रिम' AND coalesce(buyer_gstin, 'SYNTH') ~ 'SYNTH'"
    assert ask(database_url, f"SELECT buyer_name FROM invoices WHERE seller_id = '48812' AND NOT ({honest})") == []  # noqa: S608
    assert all("Synthetic" in seller.legal_name for seller in marketplace.SELLERS)
