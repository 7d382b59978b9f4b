"""Conditional writes as values: what to write where, and only if what holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from coatcheck.row import Row, Value, encoded, encoded_row


class Table(StrEnum):
    JOBS = "jobs"
    IDEMPOTENCY = "idempotency"
    TENANTS = "tenants"


@dataclass(frozen=True, kw_only=True)
class Key:
    """Where a row is. Only the jobs table has a second part: a job's row and what lies beside it."""

    table: Table
    id: str
    item: str = ""


class Test(StrEnum):
    __test__ = False  # not a test case, whatever pytest thinks of the name

    IS = "="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    ONE_OF = "in"
    ABSENT = "absent"
    FEWER = "fewer"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Of an attribute, or of an entry of a map: `held.j_1`. An entry of a map that is not there is absent, too."""

    name: str
    test: Test
    value: Value = ""


@dataclass(frozen=True, kw_only=True)
class AnyOf:
    conditions: tuple[Condition, ...]


When: TypeAlias = tuple[Condition | AnyOf, ...]


def is_(name: str, value: object) -> Condition:
    return Condition(name=name, test=Test.IS, value=encoded(value))


def below(name: str, value: object) -> Condition:
    return Condition(name=name, test=Test.BELOW, value=encoded(value))


def at_most(name: str, value: object) -> Condition:
    return Condition(name=name, test=Test.AT_MOST, value=encoded(value))


def above(name: str, value: object) -> Condition:
    return Condition(name=name, test=Test.ABOVE, value=encoded(value))


def one_of(name: str, *values: object) -> Condition:
    return Condition(name=name, test=Test.ONE_OF, value=[encoded(value) for value in values])


def fewer(name: str, value: int) -> Condition:
    """The map has fewer entries."""
    return Condition(name=name, test=Test.FEWER, value=value)


def absent(name: str) -> Condition:
    return Condition(name=name, test=Test.ABSENT)


def any_of(*conditions: Condition) -> AnyOf:
    return AnyOf(conditions=conditions)


def as_seen(name: str, value: object) -> Condition:
    """The attribute is still what was read, or still absent."""
    return absent(name) if value is None else is_(name, value)


@dataclass(frozen=True, kw_only=True)
class Put:
    """Write a whole row."""

    key: Key
    row: Row
    when: When = ()


@dataclass(frozen=True, kw_only=True)
class Update:
    """Change a row that exists: it is part of every update's condition, so that nothing is resurrected.

    What is set or removed may be an entry of a map that exists: `held.j_1`.
    """

    key: Key
    set: Row
    set_if_absent: Row = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    """What is added to numbers; one that is absent is 0. A repeated call adds again."""

    remove: frozenset[str] = frozenset()
    when: When = ()


Write: TypeAlias = Put | Update


def put(key: Key, values: Mapping[str, object], *when: Condition | AnyOf) -> Put:
    return Put(key=key, row=encoded_row(values), when=when)


def update(
    key: Key,
    when: When,
    changes: Mapping[str, object],
    set_if_absent: Mapping[str, object] | None = None,
    add: Mapping[str, int] | None = None,
) -> Update:
    """An update whose changes are domain values; None removes the attribute."""
    return Update(
        key=key,
        set=encoded_row(changes),
        set_if_absent=encoded_row(set_if_absent or {}),
        add=add or {},
        remove=frozenset(name for name, value in changes.items() if value is None),
        when=when,
    )
