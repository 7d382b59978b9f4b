"""JSON as strictly as the API takes it, with limits that are the same in every Python version."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256

MOST_NESTING = 64
MOST_DIGITS = 400
EXACT_INTEGERS = 2**53
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)


class NotStrictJson(Exception):
    """The text is not JSON that the API takes; the message says why."""


def parsed(data: bytes) -> object:
    """The value of a UTF-8 JSON text. Raises NotStrictJson.

    Refused are what RFC 8259 refuses or leaves to luck: NaN, infinities and numbers beyond a double's range, repeated
    names, lone surrogates, NUL characters, a byte order mark, and nesting deeper than 64.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"the text is not UTF-8: byte {error.start} does not belong there") from error
    if text.startswith("\ufeff"):
        raise NotStrictJson("the text begins with a byte order mark: send plain UTF-8")
    if _nesting(text) > MOST_NESTING:
        raise NotStrictJson(f"the value is nested deeper than {MOST_NESTING} levels")
    try:
        value: object = json.loads(
            text, parse_constant=_constant, parse_int=_integer, parse_float=_float, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotStrictJson(f"{error.msg.removesuffix(' at')} at {where}" if text.strip() else "it is empty") from error
    _checked_item(value)
    return value


def canonical(value: object) -> str:
    """One text for equal values: names sorted, no white space, 1.0 as 1, every string as plain UTF-8."""
    return json.dumps(_normal(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    return sha256(canonical(value).encode()).hexdigest()


def _normal(value: object) -> object:
    match value:
        case bool():
            return value
        case float() if value.is_integer() and abs(value) <= EXACT_INTEGERS:
            return int(value)
        case Mapping():
            return {name: _normal(item) for name, item in value.items()}
        case list():
            return [_normal(item) for item in value]
    return value


def _nesting(text: str) -> int:
    """How deep arrays and objects are nested, counted before anything recursive sees them."""
    depth = deepest = 0
    for character in STRINGS.sub("", text):
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise NotStrictJson(f"the name {_checked(twice)!r} stands twice in one object")
    for name, item in pairs:
        _checked(name)
        _checked_item(item)
    return value


def _checked_item(item: object) -> None:
    if isinstance(item, str):
        _checked(item)
    elif isinstance(item, list):
        for each in item:
            _checked_item(each)


def _checked(text: str) -> str:
    if "\0" in text:
        raise NotStrictJson("a string contains a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotStrictJson("a string contains half of a surrogate pair") from error
    return text


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise NotStrictJson(f"a number has more than {MOST_DIGITS} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits) if len(digits) <= MOST_DIGITS else math.inf
    if math.isinf(number):
        raise NotStrictJson("a number is beyond the range of a double, or has too many digits")
    return number


def _constant(name: str) -> float:
    raise NotStrictJson(f"{name} is not JSON")
