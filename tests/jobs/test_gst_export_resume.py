import re
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import psycopg
import pytest

from coatcheck.endings import Interrupt, YieldRequested
from coatcheck.memory_objects import MemoryObjects
from coatcheck.outcome import Yielded
from coatcheck.testing import Performed
from jobs import gst_export
from jobs.gst_export import Cursor
from tests.jobs.exports import AS_OF, add_invoice, add_invoices, export, failure_of, file_of, ids, new_seller, rows_of

pytestmark = pytest.mark.usefixtures("small_parts")
LONG_AGO = datetime(2026, 10, 1, tzinfo=UTC)
CHECKPOINTS = 9


def interrupted(at: int) -> Callable[[int], Interrupt | None]:
    return lambda number: YieldRequested() if number == at else None


def cursor_of(performed: Performed) -> Cursor:
    return msgspec.json.decode(performed.checkpoints[-1], type=Cursor)


@pytest.fixture
def undisturbed(database_url: str) -> bytes:
    performed = export(database_url)
    assert len(performed.checkpoints) == CHECKPOINTS
    return file_of(performed)


@pytest.mark.parametrize("checkpoint", range(1, CHECKPOINTS + 1))
def test_interrupted_at_any_checkpoint_the_next_attempt_writes_the_same_bytes(
    database_url: str, undisturbed: bytes, checkpoint: int
) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(checkpoint))
    assert isinstance(first.outcome, Yielded)
    second = export(database_url, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert file_of(second) == undisturbed
    assert len(first.checkpoints) + len(second.checkpoints) == CHECKPOINTS, "a part was written twice"


def test_a_chain_of_attempts_that_stop_at_each_checkpoint_writes_the_same_bytes(
    database_url: str, undisturbed: bytes
) -> None:
    objects = MemoryObjects()
    performed = export(database_url, objects=objects, at_checkpoint=interrupted(1))
    attempts = 1
    while isinstance(performed.outcome, Yielded):
        attempts += 1
        performed = export(
            database_url,
            objects=objects,
            cursor=performed.checkpoints[-1],
            attempt=attempts,
            at_checkpoint=interrupted(1),
        )
    assert attempts == CHECKPOINTS + 1
    assert file_of(performed) == undisturbed


def test_the_next_attempt_reads_on_from_the_checkpoint(database_url: str) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(4))
    rows = cursor_of(first).at.totals.rows
    second = export(database_url, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert rows > 1_000
    assert min(each.done for each in second.progress if each.done) == rows + gst_export.RANGE_ROWS[0]


def test_a_writer_that_inserts_meanwhile_also_into_the_past_changes_nothing(
    database_url: str, connection: psycopg.Connection
) -> None:
    seller_id = new_seller(connection)
    known = add_invoices(connection, seller_id, 2_000)
    undisturbed = file_of(export(database_url, seller_id))
    places = iter(range(known[0] + 1, known[-1] + 100, 10))

    def write(_: int) -> None:
        for place in [next(places), next(places), known[-1] - next(places) + known[0]]:
            add_invoice(connection, seller_id, invoice_id=place, invoice_date=LONG_AGO, recorded_at=datetime.now(UTC))

    disturbed = export(database_url, seller_id, at_checkpoint=write)
    assert len(disturbed.checkpoints) > 3
    assert file_of(disturbed) == undisturbed
    now = rows_of(file_of(export(database_url, seller_id, as_of=datetime.now(UTC))))
    assert len(now) == 2_000 + 3 * len(disturbed.checkpoints)


def test_rows_that_vanish_are_noticed_in_every_attempt(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    known = add_invoices(connection, seller_id, 1_000)

    def vanish(_: int) -> None:
        connection.execute("DELETE FROM invoices WHERE invoice_id = %s", [known[-1]])

    objects = MemoryObjects()
    first = export(database_url, seller_id, objects=objects, at_checkpoint=vanish)
    again = export(database_url, seller_id, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    for performed in (first, again):
        error = failure_of(performed).error
        assert (error.type, error.retryable) == ("TotalsDisagree", True)
        assert re.search(
            r"expected 1,000 invoices .* total 118000\.00, but wrote 999 .* total 117882\.00", error.message
        )
    assert not objects.contents


def test_an_amount_that_changes_is_noticed(database_url: str, connection: psycopg.Connection) -> None:
    seller_id = new_seller(connection)
    known = add_invoices(connection, seller_id, 1_000)

    def change(_: int) -> None:
        connection.execute("UPDATE invoices SET cgst = cgst + 0.01 WHERE invoice_id = %s", [known[-1]])

    performed = export(database_url, seller_id, at_checkpoint=change)
    assert failure_of(performed).error.type == "TotalsDisagree"


def test_a_row_committed_late_fails_the_attempt_and_is_in_the_next_ones_file(
    database_url: str, connection: psycopg.Connection
) -> None:
    seller_id = new_seller(connection)
    known = add_invoices(connection, seller_id, 1_000)

    def commit_late(number: int) -> None:
        if number == 1:
            known.append(add_invoice(connection, seller_id, recorded_at=AS_OF))

    objects = MemoryObjects()
    first = export(database_url, seller_id, objects=objects, at_checkpoint=commit_late)
    assert failure_of(first).error.type == "TotalsDisagree"
    second = export(database_url, seller_id, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert ids(rows_of(file_of(second))) == known


@pytest.mark.parametrize("part", [1, 3, 5])
def test_a_part_that_is_lost_is_written_again(database_url: str, undisturbed: bytes, part: int) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(5))
    [upload_id] = objects.uploads
    objects.forget_parts(upload_id, [part])
    second = export(database_url, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert file_of(second) == undisturbed
    assert len(second.checkpoints) == CHECKPOINTS - part + 1
    assert not objects.uploads


def test_a_part_that_another_attempt_overwrote_is_written_again(database_url: str, undisturbed: bytes) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(CHECKPOINTS))
    [upload_id] = objects.uploads
    objects.uploads[upload_id].parts[2] = b"what a zombie wrote" * 5_000
    second = export(database_url, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert file_of(second) == undisturbed


def test_an_upload_that_is_gone_is_begun_again(database_url: str, undisturbed: bytes) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(5))
    objects.uploads.clear()
    second = export(database_url, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert file_of(second) == undisturbed
    assert len(second.checkpoints) == CHECKPOINTS


def test_a_sealed_export_is_completed_without_its_source(database_url: str, undisturbed: bytes) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects, at_checkpoint=interrupted(CHECKPOINTS))
    assert cursor_of(first).sealed
    assert not objects.contents
    second = export(None, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert file_of(second) == undisturbed


def test_a_finished_upload_is_handed_out_as_it_is(database_url: str) -> None:
    objects = MemoryObjects()
    first = export(database_url, objects=objects)
    second = export(None, objects=objects, cursor=first.checkpoints[-1], attempt=2)
    assert second.outcome == first.outcome
    assert set(objects.versions.values()) == {1}
