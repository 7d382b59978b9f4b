"""Rows as DynamoDB's attribute values, and back."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from coatcheck.row import Row, Value

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef


def attribute(value: Value) -> "AttributeValueTypeDef":
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int():
            return {"N": str(value)}
        case list():
            return {"L": [attribute(item) for item in value]}
        case dict():
            return {"M": attributes(value)}


def attributes(row: Row) -> "dict[str, AttributeValueTypeDef]":
    return {name: attribute(value) for name, value in row.items()}


def row(item: Mapping[str, Any]) -> Row:
    return {name: _value(value) for name, value in item.items()}


def _value(value: Mapping[str, Any]) -> Value:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return str(held)
        case "N":
            return int(held)
        case "BOOL":
            return bool(held)
        case "L":
            return [_value(item) for item in held]
        case "M":
            return row(held)
    raise ValueError(f"rows hold no attributes of the type {kind}")
