"""Whether a condition holds for a row: DynamoDB's judgement, for the fakes."""

from coatcheck.row import Row, Value
from coatcheck.write import AnyOf, Condition, Test


def holds(condition: Condition | AnyOf, row: Row) -> bool:
    """Whether a condition holds for a row as DynamoDB would judge it: an absent attribute compares with nothing."""
    if isinstance(condition, AnyOf):
        return any(holds(each, row) for each in condition.conditions)
    value = _found(row, condition.name)
    match condition.test:
        case Test.ABSENT:
            return value is None
        case Test.IS:
            return _same(value, condition.value)
        case Test.ONE_OF:
            return isinstance(condition.value, list) and any(_same(value, each) for each in condition.value)
        case Test.FEWER:
            most = condition.value
            return isinstance(value, dict) and isinstance(most, int) and len(value) < most
        case Test.BELOW | Test.AT_MOST | Test.ABOVE:
            return _compared(condition.test, value, condition.value)


def _found(row: Row, name: str) -> "Value | None":
    first, _, entry = name.partition(".")
    value = row.get(first)
    return value if not entry else value.get(entry) if isinstance(value, dict) else None


def _same(left: "Value | None", right: Value) -> bool:
    """A boolean is no number to DynamoDB, although it is one to Python."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _compared(test: Test, left: "Value | None", right: Value) -> bool:
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    match test:
        case Test.BELOW:
            return left < right
        case Test.AT_MOST:
            return left <= right
        case _:
            return left > right
