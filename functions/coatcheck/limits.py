"""What AWS' services refuse by size and form, for fakes that are as strict."""

from collections.abc import Iterable, Sequence

from coatcheck.row import Row, Value
from coatcheck.write import AnyOf, Condition, Key, Test, Write

MOST_ITEM_BYTES = 400 * 1024
MOST_KEY_BYTES = 2048
TOO_LARGE = 10**38
MOST_OPTIONS = 100
MOST_WRITES = 100
MOST_READS = 100
MOST_OBJECT_KEY_BYTES = 1024
MOST_PARTS = 10_000


class BeyondLimits(ValueError):
    """The service would refuse this call."""


class ItemTooLarge(BeyondLimits):
    """DynamoDB refuses items over 400 KB."""


def check_key(key: Key) -> None:
    if not 1 <= len(key.id.encode()) <= MOST_KEY_BYTES:
        raise BeyondLimits(f"a partition key has 1 to 2,048 bytes, not {len(key.id.encode()):,}")


def check_item(key: Key, row: Row) -> None:
    if len(repr(row).encode()) > MOST_ITEM_BYTES:
        raise ItemTooLarge(f"{key} would be larger than 400 KB")
    _check_numbers(row.values())


def check_writes(writes: Sequence[Write]) -> None:
    """Check a transaction, or a single write."""
    keys = [write.key for write in writes]
    if len(set(keys)) != len(keys):
        raise BeyondLimits("a transaction may touch each item once")
    if len(keys) > MOST_WRITES:
        raise BeyondLimits("a transaction may have 100 writes")
    for write in writes:
        check_key(write.key)
        for condition in write.when:
            _check_options(condition)


def check_reads(keys: Sequence[Key]) -> None:
    """Check a read of several items at once."""
    if not 1 <= len(keys) <= MOST_READS or len(set(keys)) != len(keys):
        raise BeyondLimits("1 to 100 items may be read at once, each of them once")
    for key in keys:
        check_key(key)


def check_object_key(key: str) -> None:
    if not 1 <= len(key.encode()) <= MOST_OBJECT_KEY_BYTES:
        raise BeyondLimits("KeyTooLongError: an object's key has 1 to 1,024 bytes")


def check_part_number(number: int) -> None:
    if not 1 <= number <= MOST_PARTS:
        raise BeyondLimits(f"InvalidArgument: parts are numbered from 1 to 10,000, not {number}")


def _check_options(condition: Condition | AnyOf) -> None:
    if isinstance(condition, AnyOf):
        for each in condition.conditions:
            _check_options(each)
    elif condition.test is Test.ONE_OF and isinstance(condition.value, list) and len(condition.value) > MOST_OPTIONS:
        raise BeyondLimits("IN compares with 100 values at most")


def _check_numbers(values: Iterable[Value]) -> None:
    for value in values:
        if isinstance(value, int):
            if abs(value) >= TOO_LARGE:
                raise BeyondLimits("a number has 38 digits at most")
        elif isinstance(value, list):
            _check_numbers(value)
        elif isinstance(value, dict):
            _check_numbers(value.values())
