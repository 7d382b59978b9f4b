"""Where moto is laxer than AWS, the fakes are not (the whole list is in `conftest.py`)."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from coatcheck.job import job_key
from coatcheck.limits import BeyondLimits
from coatcheck.memory import MemoryMessage, MemoryQueues, MemoryStore
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import UploadGone
from coatcheck.store import Refused
from coatcheck.write import Key, Put, Table, any_of, is_, one_of, put, update

PLACE = job_key("j_1")


def store() -> MemoryStore:
    return MemoryStore(rows={PLACE: {"id": "j_1", "flag": True, "number": 1}})


def begun() -> tuple[MemoryObjects, str]:
    objects = MemoryObjects()
    return objects, objects.begin("a", nonce="n", content_type="text/plain")


@pytest.mark.parametrize(
    "call",
    [
        lambda: store().write(put(PLACE, {"n": 10**38})),
        lambda: store().write(put(PLACE, {"map": {"list": [-(10**38)]}})),
        lambda: store().get(job_key("x" * 2049)),
        lambda: store().write(put(Key(table=Table.IDEMPOTENCY, id=""), {"a": 1})),
        lambda: store().write(update(PLACE, (one_of("number", *range(101)),), {"a": 1})),
        lambda: store().write(update(PLACE, (any_of(one_of("number", *range(101))),), {"a": 1})),
        lambda: store().transact([Put(key=job_key(f"j_{number}"), row={}) for number in range(101)]),
        lambda: store().transact([put(PLACE, {}), put(PLACE, {})]),
        lambda: store().get_many([]),
        lambda: store().get_many([PLACE, PLACE]),
        lambda: store().get_many([job_key(f"j_{number}") for number in range(101)]),
        lambda: MemoryObjects().put("x" * 1025, b"", nonce="n", content_type="text/plain"),
        lambda: MemoryObjects().begin("", nonce="n", content_type="text/plain"),
        lambda: begun()[0].put_part("a", begun()[1], 0, b"x"),
        lambda: begun()[0].put_part("a", begun()[1], 10_001, b"x"),
        lambda: MemoryQueues().wake("j_1", timedelta(minutes=15, milliseconds=1)),
        lambda: MemoryQueues().wake("j_1", timedelta(seconds=-1)),
        lambda: MemoryMessage().hide(timedelta(hours=12, milliseconds=1)),
        lambda: MemoryMessage().hide(timedelta(seconds=-1)),
    ],
)
def test_the_fakes_refuse_what_aws_refuses(call: Callable[[], object]) -> None:
    with pytest.raises(BeyondLimits):
        call()


@pytest.mark.parametrize("condition", [is_("flag", 1), is_("number", True), one_of("flag", 1, 2)])
def test_a_boolean_is_no_number(condition: object) -> None:
    with pytest.raises(Refused):
        store().write(update(PLACE, (condition,), {"a": 1}))  # type: ignore[arg-type]  # parametrised


def test_an_upload_belongs_to_its_key_and_ends_with_its_completion() -> None:
    objects, upload = begun()
    with pytest.raises(UploadGone):
        objects.put_part("b", upload, 1, b"x")
    with pytest.raises(UploadGone):
        objects.parts("b", upload)
    objects.complete("a", upload, [(1, objects.put_part("a", upload, 1, b"x"))])
    with pytest.raises(UploadGone):
        objects.put_part("a", upload, 2, b"more")


def test_what_is_just_within_the_limits_is_taken() -> None:
    store().write(put(job_key("x" * 2048), {"n": 10**38 - 1}))
    MemoryQueues().wake("j_1", timedelta(minutes=15))
    MemoryMessage().hide(timedelta(hours=12))


def test_a_row_that_was_read_is_nobody_elses() -> None:
    """A fake that handed out its own rows would let a test change what is stored."""
    kept = store()
    row = kept.get(PLACE)
    assert row is not None
    row["number"] = 2
    assert kept.get(PLACE) == {"id": "j_1", "flag": True, "number": 1}
