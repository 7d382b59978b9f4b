"""The GST report export on real input: a million invoices, killed workers, and a writer beside it."""

import csv
import gzip
import io
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, LiteralString

import msgspec
import psycopg
import pytest

from coatcheck_client.api import Document
from coatcheck_client.marketplace import BIG_SELLER, PERIOD
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

ARGS = {"seller_id": BIG_SELLER, "period": PERIOD}
PACE = 250_000
"""Rows a second, so that a kill can be placed in the middle."""

INSERT: LiteralString = """
INSERT INTO invoices
SELECT (jsonb_populate_record(invoices, jsonb_build_object(
    'invoice_id', invoice_id + 1 + %(lane)s, 'recorded_at', now(), 'total', total + 1
))).*
FROM invoices WHERE seller_id = %(seller)s AND invoice_id = %(invoice)s
"""


@pytest.fixture(scope="module")
def undisturbed(live: LiveStack, client: Client) -> bytes:
    """The file of an export that nobody disturbed."""
    with live.functions.paced(PACE):
        job_id = client.submit("gst-export", ARGS, key="undisturbed")
        done = client.wait_state(job_id, "succeeded", within=90)
    assert (done["attempt"], done["result"]["rows"]) == (1, 1_000_000)
    return client.result(job_id)


def test_the_file_holds_what_the_database_has(live: LiveStack, undisturbed: bytes) -> None:
    with psycopg.connect(live.stack.database_url) as connection:
        known = connection.execute(
            "SELECT count(*), sum(total) FROM invoices WHERE seller_id = %s"
            " AND invoice_date >= '2026-10-01T00:00+05:30' AND invoice_date < '2026-11-01T00:00+05:30'",
            [BIG_SELLER],
        ).fetchone()
    assert totals(undisturbed) == known


def test_a_worker_killed_at_a_random_moment_costs_one_checkpoint_and_no_byte(
    live: LiveStack, client: Client, undisturbed: bytes
) -> None:
    moment = random.Random(48812).uniform(0.25, 0.7)  # the seed makes the moment repeatable
    with live.functions.paced(PACE):
        job_id = client.submit("gst-export", ARGS)
        client.wait_until(job_id, lambda now: (now["progress"].get("percent") or 0) >= 100 * moment, within=60)
        live.wait_for(lambda: rows_saved(live, job_id), within=30)
        before = client.status(job_id)
        assert live.kill("worker-interactive") > 0
        saved = rows_saved(live, job_id)
        client.wait_until(job_id, lambda now: now["state"] == "running" and now["attempt"] == 2, within=12)
        resumed_at = rows_saved(live, job_id)
        done = client.wait_state(job_id, "succeeded", within=60)
    assert (done["attempt"], done["failures"]) == (2, 1)
    assert done["started_at"] == before["started_at"]
    assert resumed_at >= saved > 0
    assert before["progress"]["done"] - saved <= 200_000  # a part is at most two members of 100,000 rows
    assert client.result(job_id) == undisturbed
    assert live.versions(f"results/bharat-bazaar/{job_id}/") == 1


def test_a_writer_beside_the_export_changes_nothing_of_its_moment(live: LiveStack, client: Client) -> None:
    with writer(live) as written, live.functions.paced(PACE):
        job_id = client.submit("gst-export", ARGS)
        done = client.wait_state(job_id, "succeeded", within=90)
        row = live.row(job_id)
    assert row is not None
    assert written["while running"] > 100
    with psycopg.connect(live.stack.database_url) as connection:
        known = connection.execute(
            "SELECT count(*), sum(total) FROM invoices WHERE seller_id = %s"
            " AND invoice_date >= '2026-10-01T00:00+05:30' AND invoice_date < '2026-11-01T00:00+05:30'"
            " AND recorded_at <= to_timestamp(%s / 1000.0)",
            [BIG_SELLER, int(row["as_of"]["N"])],
        ).fetchone()
        connection.execute("DELETE FROM invoices WHERE seller_id = %s AND invoice_id %% 10 <> 0", [BIG_SELLER])
    assert totals(client.result(job_id)) == known
    assert done["result"]["rows"] >= 1_000_000


@pytest.mark.parametrize("seller", ["999999999999", "7001"])
def test_an_unknown_and_a_foreign_seller_fail_alike_and_at_once(client: Client, seller: str) -> None:
    done = client.wait_final(client.submit("gst-export", {**ARGS, "seller_id": seller}), within=30)
    assert (done["state"], done["attempt"]) == ("failed", 1)
    assert done["error"] == {
        "type": "UnknownSeller",
        "message": f"there is no seller {seller}",
        "retryable": False,
    }


@pytest.mark.parametrize(("seller", "rows"), [("48810", 0), ("48811", 1), ("48813", 2_000)])
def test_small_sellers_get_a_file_with_a_header_over_the_route_of_the_kind(
    client: Client, seller: str, rows: int
) -> None:
    answer = client.request("POST", "/v1/reports/gst-export", json={**ARGS, "seller_id": seller})
    assert answer.status == 202
    job_id = str(answer.document["id"])
    done = client.wait_state(job_id, "succeeded", within=30)
    assert done["result"]["rows"] == rows
    file = client.result(job_id)
    assert file[:2] == b"\x1f\x8b"
    assert len(list(csv.reader(io.StringIO(gzip.decompress(file).decode(), newline="")))) == rows + 1


def test_an_open_export_answers_a_second_request_for_the_same(live: LiveStack, client: Client) -> None:
    with live.functions.paced(PACE):
        first = client.submit("gst-export", ARGS, key="one")
        second = client.post("gst-export", ARGS, key="two")
        assert (second.status, second.document["id"]) == (202, first)
        client.request("DELETE", f"/v1/jobs/{first}")
        ended: Document = client.wait_final(first, within=30)
    assert ended["state"] in ("cancelled", "succeeded")
    assert client.submit("gst-export", {**ARGS, "seller_id": "48811"}) != first


def totals(file: bytes) -> tuple[int, Decimal]:
    """Rows, and the sum of their totals."""
    rows = csv.reader(io.StringIO(gzip.decompress(file).decode(), newline=""))
    column = next(rows).index("total")
    paise = [int(row[column].replace(".", "")) for row in rows]
    return len(paise), Decimal(sum(paise)).scaleb(-2)


def rows_saved(live: LiveStack, job_id: str) -> int:
    """How many rows are behind the saved cursor."""
    row = live.row(job_id) or {}
    if "cursor" in row:
        text = row["cursor"]["S"]
    elif "cursor_key" in row:
        text = live.object(row["cursor_key"]["S"]).decode()
    else:
        return 0
    cursor: dict[str, Any] = msgspec.json.decode(text)
    return int(cursor["at"]["totals"]["rows"])


@contextmanager
def writer(live: LiveStack) -> Iterator[dict[str, int]]:
    """Insert invoices all the while, between those that are there and dated in the past."""
    stopped, counts = threading.Event(), {"while running": 0}

    def write() -> None:
        with psycopg.connect(live.stack.database_url, autocommit=True) as connection:
            invoice = int(BIG_SELLER) * 100_000_000
            while not stopped.is_set():
                invoice += 4_990
                done = connection.execute(
                    INSERT,
                    {"seller": BIG_SELLER, "invoice": invoice - invoice % 10, "lane": counts["while running"] % 8},
                )
                counts["while running"] += done.rowcount

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield counts
    finally:
        stopped.set()
        thread.join()
