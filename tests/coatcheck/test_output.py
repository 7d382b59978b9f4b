"""A job's output: parts outlive the attempt, nothing is written twice, and nobody else's object is taken for ours."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from coatcheck import File, Part, Upload
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import ObjectExists, StoredObject, UploadGone
from coatcheck.output import DamagedOutput, OutputTaken
from tests.coatcheck.outputs import KEY, MiB, block, output, three_parts, upload_of


def test_a_small_output_is_one_object_whose_version_is_the_result() -> None:
    objects = MemoryObjects()
    out = output(objects)
    out.write(b"abc")
    out.write(b"def")
    assert out.pending == 6
    assert out.complete() == File(key=KEY, bytes=6, content_type="application/gzip", version="1")
    assert (objects.contents[KEY], objects.uploads) == (b"abcdef", {})


def test_an_empty_output_is_an_object_too() -> None:
    assert output(MemoryObjects()).complete().bytes == 0


def test_completing_twice_changes_nothing() -> None:
    objects = MemoryObjects()
    out = output(objects)
    out.write(b"abc")
    assert out.complete() == out.complete()
    assert objects.versions == {KEY: 1}


def test_a_later_attempt_that_writes_the_same_bytes_does_not_write_them_again() -> None:
    objects = MemoryObjects()
    for nonce in ("nonce-1", "nonce-2"):
        out = output(objects, nonce=nonce)
        out.write(b"abc")
        assert out.complete().version == "1"
    assert objects.versions == {KEY: 1}


def test_a_later_attempt_that_writes_other_bytes_replaces_what_it_saw() -> None:
    objects = MemoryObjects()
    for data, version in ((b"abc", "1"), (b"abcd", "2")):
        out = output(objects)
        out.write(data)
        assert out.complete().version == version
    assert objects.contents[KEY] == b"abcd"


def test_an_object_that_changes_under_a_replacement_is_not_overwritten() -> None:
    class Racing(MemoryObjects):
        def put(self, key: str, data: bytes, *, nonce: str, content_type: str, replacing: str | None = None) -> None:
            if replacing is not None:
                self._store(key, b"of a third", "third", content_type)
            super().put(key, data, nonce=nonce, content_type=content_type, replacing=replacing)

    objects = Racing()
    objects.put(KEY, b"of another", nonce="other", content_type="text/plain")
    out = output(objects)
    out.write(b"mine")
    with pytest.raises(ObjectExists):
        out.complete()
    assert objects.contents[KEY] == b"of a third"


def test_parts_make_one_object_and_each_remembers_where_it_starts() -> None:
    objects = MemoryObjects()
    out = three_parts(objects)
    assert [(part.number, part.size, part.start) for part in upload_of(out).parts] == [
        (1, 5 * MiB, {"row": 100}),
        (2, 5 * MiB, {"row": 200}),
        (3, 5 * MiB, {"row": 300}),
    ]
    out.write(b"rest")
    assert out.complete() == File(key=KEY, bytes=15 * MiB + 4, content_type="application/gzip", version="1")
    assert objects.contents[KEY] == block(1) + block(2) + block(3) + b"rest"


def test_a_part_that_is_too_small_is_refused_unless_it_is_the_last() -> None:
    out = output(MemoryObjects())
    out.write(b"small")
    out.put_part()
    out.write(b"rest")
    with pytest.raises(ValueError, match="EntityTooSmall"):
        out.complete()


def test_an_upload_that_dies_under_the_attempt_is_an_error_and_no_success() -> None:
    objects = MemoryObjects()
    out = three_parts(objects)
    objects.uploads.clear()
    out.write(block(4))
    with pytest.raises(UploadGone):
        out.put_part()
    with pytest.raises(OutputTaken):
        out.complete()


def test_the_object_of_another_upload_is_never_taken_for_ours() -> None:
    objects = MemoryObjects()
    out = three_parts(objects)
    objects.put(KEY, b"of another", nonce="other", content_type="text/plain")
    with pytest.raises(OutputTaken, match=KEY):
        out.complete()
    assert objects.contents[KEY] == b"of another"


def test_a_completion_whose_answer_was_lost_is_found_by_its_nonce() -> None:
    class Forgetful(MemoryObjects):
        def complete(self, key: str, upload_id: str, etags: Sequence[tuple[int, str]]) -> None:
            super().complete(key, upload_id, etags)
            super().complete(key, upload_id, etags)

    objects = Forgetful()
    assert three_parts(objects).complete().bytes == 15 * MiB
    assert objects.versions == {KEY: 1}


def test_an_object_that_is_not_as_large_as_what_was_written_is_no_result() -> None:
    class Shrinking(MemoryObjects):
        def head(self, key: str) -> StoredObject | None:
            stored = super().head(key)
            return None if stored is None else replace(stored, bytes=stored.bytes - 1)

    out = output(Shrinking())
    out.write(b"abc")
    with pytest.raises(DamagedOutput) as damaged:
        out.complete()
    assert (damaged.value.written, damaged.value.found) == (3, 2)


def test_an_upload_survives_the_cursor() -> None:
    upload = Upload(id="u", nonce="n", parts=(Part(number=1, etag='"e"', size=5, start={"row": 1}),))
    assert msgspec.json.decode(msgspec.json.encode(upload), type=Upload) == upload
