"""A job's output over several attempts: it goes on in its upload, and mends what no longer matches."""

from typing import Any

import pytest

from coatcheck import Upload
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import PartLost
from tests.coatcheck.outputs import KEY, Mark, block, finished, output, three_parts, upload_of


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


def test_the_object_of_another_upload_does_not_finish_ours() -> None:
    objects = MemoryObjects()
    saved = upload_of(three_parts(objects))
    del objects.uploads[saved.id]
    objects.put(KEY, b"of another", nonce="other", content_type="text/plain")
    later = output(objects, saved)
    assert (later.finished, later.rewound) == (None, {"row": 100})


def test_an_upload_that_is_gone_without_a_trace_is_begun_anew_from_its_first_part() -> None:
    objects = MemoryObjects()
    saved = upload_of(three_parts(objects))
    del objects.uploads[saved.id]
    later = output(objects, saved, nonce="nonce-2")
    assert (later.rewound, later.finished, later.upload) == ({"row": 100}, None, None)
    assert finished(objects, later, (1, 2)) == block(1) + block(2)
