"""Outputs in the middle of their parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import msgspec

from coatcheck import Output, Upload
from coatcheck.memory_objects import MemoryObjects
from coatcheck.objects import MINIMUM_PART_BYTES

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
