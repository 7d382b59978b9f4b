"""A job's output: parts outlive the attempt, nothing is written twice, and nobody else's object is taken for ours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import msgspec
import pytest

from coatcheck import File, Output, Part, Upload
from coatcheck.memory import MemoryObjects
from coatcheck.objects import MINIMUM_PART_BYTES, ObjectExists, PartLost, StoredObject, UploadGone
from coatcheck.output import DamagedOutput, OutputTaken

KEY = "results/acme/j_1/report.csv.gz"
MiB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Mark:
    row: int


def output(objects: MemoryObjects, resume: Upload | None = None, nonce: str = "nonce-1") -> Output:
    numbers = count(1)
    return Output(objects, KEY, "application/gzip", lambda: f"{nonce}.{next(numbers)}", resume)


def block(number: int) -> bytes:
    return bytes([number]) * MINIMUM_PART_BYTES


def three_parts(objects: MemoryObjects) -> Output:
    out = output(objects)
    for number in (1, 2, 3):
        out.write(block(number))
        out.put_part(Mark(row=number * 100))
    return out


def upload_of(out: Output) -> Upload:
    """The upload as a cursor brings it back."""
    assert out.upload is not None
    return msgspec.json.decode(msgspec.json.encode(out.upload), type=Upload)


def finished(objects: MemoryObjects, out: Output, numbers: Sequence[int]) -> bytes:
    for number in numbers:
        out.write(block(number))
        out.put_part(Mark(row=number * 100))
    out.complete()
    return objects.contents[KEY]


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


def test_a_later_attempt_goes_on_in_the_same_upload_and_writes_no_part_again() -> None:
    class Counting(MemoryObjects):
        parts_put = 0

        def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
            self.parts_put += 1
            return super().put_part(key, upload_id, number, data)

    objects = Counting()
    saved = upload_of(three_parts(objects))
    later = output(objects, saved, nonce="nonce-2")
    assert (later.rewound, later.finished, later.upload) == (None, None, saved)
    assert finished(objects, later, (4,)) == block(1) + block(2) + block(3) + block(4)
    assert objects.parts_put == 4
    assert len(objects.versions) == 1


def test_a_part_that_was_put_after_the_checkpoint_is_put_over_it_again() -> None:
    objects = MemoryObjects()
    out = three_parts(objects)
    saved = upload_of(out)
    out.write(block(9))
    out.put_part(Mark(row=900))
    assert finished(objects, output(objects, saved), (4,)) == block(1) + block(2) + block(3) + block(4)


def lose(objects: MemoryObjects, upload: Upload) -> None:
    objects.forget_parts(upload.id, [2])


def replace_by_another(objects: MemoryObjects, upload: Upload) -> None:
    objects.put_part(KEY, upload.id, 2, block(7))


@pytest.mark.parametrize("damage", [lose, replace_by_another])
def test_a_part_that_no_longer_matches_is_written_again_from_where_it_starts_and_all_after_it(damage: Any) -> None:
    objects = MemoryObjects()
    saved = upload_of(three_parts(objects))
    damage(objects, saved)
    later = output(objects, saved)
    assert later.rewound == {"row": 200}
    assert later.upload == Upload(id=saved.id, nonce=saved.nonce, parts=saved.parts[:1])
    assert finished(objects, later, (2, 3)) == block(1) + block(2) + block(3)


def test_a_part_that_is_lost_after_the_attempt_began_fails_the_completion() -> None:
    objects = MemoryObjects()
    saved = upload_of(three_parts(objects))
    later = output(objects, saved)
    objects.forget_parts(saved.id, [1])
    with pytest.raises(PartLost, match=KEY):
        later.complete()
    assert KEY not in objects.contents


def test_an_upload_that_an_earlier_attempt_of_ours_completed_is_finished() -> None:
    objects = MemoryObjects()
    first = three_parts(objects)
    saved = upload_of(first)
    file = first.complete()
    later = output(objects, saved)
    assert later.finished == file
    assert later.complete() == file
    assert objects.versions == {KEY: 1}


def test_an_upload_that_is_gone_without_a_trace_is_begun_anew_from_its_first_part() -> None:
    objects = MemoryObjects()
    saved = upload_of(three_parts(objects))
    del objects.uploads[saved.id]
    later = output(objects, saved, nonce="nonce-2")
    assert (later.rewound, later.finished, later.upload) == ({"row": 100}, None, None)
    assert finished(objects, later, (1, 2)) == block(1) + block(2)


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
