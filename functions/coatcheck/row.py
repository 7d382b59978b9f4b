"""Rows: what a table holds, and how domain values become it."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TypeAlias, cast

Value: TypeAlias = "str | int | bool | list[Value] | dict[str, Value]"
Row: TypeAlias = dict[str, Value]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PLAIN = frozenset({str, int, bool})


def milliseconds(moment: datetime) -> int:
    """Whole milliseconds since the epoch, the form in which tables hold times; documents cut the rest off, too."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def moment(value: int) -> datetime:
    """The aware UTC time of a number of milliseconds since the epoch."""
    return EPOCH + timedelta(milliseconds=value)


def encoded(value: object) -> Value:
    """A domain value as a row holds it: times and durations in milliseconds, values as maps without their gaps."""
    if type(value) in PLAIN:
        return cast("Value", value)
    match value:
        case Enum():
            return encoded(value.value)
        case datetime():
            return milliseconds(value)
        case timedelta():
            return round(value.total_seconds() * 1000)
        case Mapping():
            return {str(name): encoded(item) for name, item in value.items() if item is not None}
        case list() | tuple():
            return [encoded(item) for item in value]
        case _ if is_dataclass(value):
            return encoded({field.name: getattr(value, field.name) for field in fields(value)})
    raise TypeError(f"a row cannot hold {type(value).__name__}: text, whole numbers, booleans, lists and maps only")


def encoded_row(values: Mapping[str, object]) -> Row:
    """A row of the values that are there: an absent attribute is the row's only way to say None."""
    return {name: encoded(value) for name, value in values.items() if value is not None}
