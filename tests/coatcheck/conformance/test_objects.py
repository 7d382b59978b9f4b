"""Buckets: multipart uploads, conditional writes, versions."""

from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from coatcheck.limits import BeyondLimits
from coatcheck.objects import MINIMUM_PART_BYTES, ObjectExists, Objects, PartLost, StoredObject, UploadGone
from coatcheck.output import Output, Upload

SMALL = (BeyondLimits, ClientError)


def begun(objects: Objects, key: str) -> str:
    return objects.begin(key, nonce="nonce-1", content_type="application/gzip")


def head(objects: Objects, key: str) -> StoredObject:
    found = objects.head(key)
    assert found is not None
    return found


def block(letter: bytes) -> bytes:
    return letter * MINIMUM_PART_BYTES


def test_an_object_is_read_back_byte_for_byte_with_whose_it_is(objects: Objects, fresh: str) -> None:
    data = bytes(range(256)) * 10
    objects.put(fresh, data, nonce="n1", content_type="text/csv")
    assert objects.get(fresh) == data
    stored = head(objects, fresh)
    assert (stored.key, stored.bytes, stored.content_type, stored.nonce) == (fresh, 2560, "text/csv", "n1")
    assert stored.version
    assert stored.etag


def test_what_is_not_there_is_none(objects: Objects, fresh: str) -> None:
    assert objects.head(fresh) is None
    assert objects.get(fresh) is None


def test_an_object_is_not_put_over_another(objects: Objects, fresh: str) -> None:
    objects.put(fresh, b"first", nonce="n1", content_type="text/plain")
    with pytest.raises(ObjectExists):
        objects.put(fresh, b"second", nonce="n2", content_type="text/plain")
    assert objects.get(fresh) == b"first"


def test_an_object_is_replaced_only_by_who_saw_it_as_it_is(objects: Objects, fresh: str) -> None:
    objects.put(fresh, b"first", nonce="n1", content_type="text/plain")
    seen = head(objects, fresh)
    objects.put(fresh, b"second", nonce="n2", content_type="text/plain", replacing=seen.etag)
    with pytest.raises(ObjectExists):
        objects.put(fresh, b"third", nonce="n3", content_type="text/plain", replacing=seen.etag)
    assert objects.get(fresh) == b"second"
    assert head(objects, fresh).version != seen.version


def test_an_empty_object_is_an_object(objects: Objects, fresh: str) -> None:
    objects.put(fresh, b"", nonce="n", content_type="text/plain")
    assert (objects.get(fresh), head(objects, fresh).bytes) == (b"", 0)


def test_parts_become_one_object_in_the_order_of_their_numbers(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    last = objects.put_part(fresh, upload, 2, b"rest")
    first = objects.put_part(fresh, upload, 1, block(b"a"))
    assert dict(objects.parts(fresh, upload)) == {1: first, 2: last}
    assert objects.head(fresh) is None
    objects.complete(fresh, upload, [(1, first), (2, last)])
    assert objects.get(fresh) == block(b"a") + b"rest"
    assert (head(objects, fresh).nonce, head(objects, fresh).content_type) == ("nonce-1", "application/gzip")


def test_a_part_that_is_put_again_counts_as_it_was_put_last(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    old = objects.put_part(fresh, upload, 1, b"old")
    new = objects.put_part(fresh, upload, 1, b"new")
    assert old != new
    assert dict(objects.parts(fresh, upload)) == {1: new}
    with pytest.raises(PartLost):
        objects.complete(fresh, upload, [(1, old)])
    objects.complete(fresh, upload, [(1, new)])
    assert objects.get(fresh) == b"new"


def test_equal_bytes_have_an_equal_etag_so_that_a_part_can_be_told_from_another(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    assert objects.put_part(fresh, upload, 1, b"same") == objects.put_part(fresh, upload, 2, b"same")


def test_an_upload_without_parts_has_none_and_cannot_be_completed(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    assert dict(objects.parts(fresh, upload)) == {}
    with pytest.raises(SMALL, match="MalformedXML"):
        objects.complete(fresh, upload, [])


def test_a_part_that_was_never_put_is_lost(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    etag = objects.put_part(fresh, upload, 1, block(b"a"))
    with pytest.raises(PartLost):
        objects.complete(fresh, upload, [(1, etag), (2, etag)])


def test_a_part_under_5_mib_is_refused_unless_it_is_the_last(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    etags = [(number, objects.put_part(fresh, upload, number, b"small")) for number in (1, 2)]
    with pytest.raises(SMALL, match="EntityTooSmall"):
        objects.complete(fresh, upload, etags)
    assert objects.head(fresh) is None


def test_an_upload_is_not_completed_over_another_object(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    etag = objects.put_part(fresh, upload, 1, b"mine")
    objects.put(fresh, b"first", nonce="n1", content_type="text/plain")
    with pytest.raises(ObjectExists):
        objects.complete(fresh, upload, [(1, etag)])
    assert objects.get(fresh) == b"first"


def test_a_completed_upload_is_gone(objects: Objects, fresh: str) -> None:
    upload = begun(objects, fresh)
    etag = objects.put_part(fresh, upload, 1, b"all")
    objects.complete(fresh, upload, [(1, etag)])
    with pytest.raises(UploadGone):
        objects.parts(fresh, upload)


def test_an_upload_that_never_was_is_gone(objects: Objects, fresh: str) -> None:
    with pytest.raises(UploadGone) as gone:
        objects.parts(fresh, "no-such-upload")
    assert (gone.value.key, gone.value.upload_id) == (fresh, "no-such-upload")


def test_an_output_goes_on_in_the_upload_of_an_earlier_attempt(objects: Objects, fresh: str) -> None:
    first = Output(objects, fresh, "text/plain", lambda: "nonce-1", None)
    first.write(block(b"a"))
    saved = first.put_part({"row": 1})
    first.write(b"lost with the worker")
    later = Output(objects, fresh, "text/plain", lambda: "nonce-2", saved)
    assert (later.upload, later.rewound, later.finished) == (saved, None, None)
    later.write(b"rest")
    file = later.complete()
    assert (file.bytes, file.content_type) == (MINIMUM_PART_BYTES + 4, "text/plain")
    assert file.version == head(objects, fresh).version
    again = Output(objects, fresh, "text/plain", lambda: "nonce-3", saved)
    assert again.finished == file


def test_an_output_of_a_vanished_upload_is_begun_anew(objects: Objects, fresh: str) -> None:
    saved = Upload(id="no-such-upload", nonce="nonce-1")
    later = Output(objects, fresh, "text/plain", lambda: "nonce-2", saved)
    later.write(b"all")
    assert later.complete().bytes == 3


def test_what_was_begun_or_stored_under_a_prefix_is_removed_and_nothing_else(objects: Objects, fresh: str) -> None:
    upload_id = begun(objects, f"{fresh}/a")
    objects.put(f"{fresh}/b", b"1", nonce="n", content_type="text/plain")
    objects.put(f"{fresh}-other", b"2", nonce="n", content_type="text/plain")
    objects.remove(f"{fresh}/", before=datetime(2100, 1, 1, tzinfo=UTC))
    with pytest.raises(UploadGone):
        objects.parts(f"{fresh}/a", upload_id)
    assert (objects.head(f"{fresh}/b"), objects.get(f"{fresh}-other")) == (None, b"2")
    objects.remove(f"{fresh}/", before=datetime(2100, 1, 1, tzinfo=UTC))


def test_what_was_begun_or_stored_later_is_not_removed(objects: Objects, fresh: str) -> None:
    upload_id = begun(objects, f"{fresh}/a")
    objects.put(f"{fresh}/b", b"1", nonce="n", content_type="text/plain")
    objects.remove(f"{fresh}/", before=datetime(2000, 1, 1, tzinfo=UTC))
    objects.put_part(f"{fresh}/a", upload_id, 1, b"3")
    assert objects.get(f"{fresh}/b") == b"1"
