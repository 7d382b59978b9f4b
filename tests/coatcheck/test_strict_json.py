"""JSON as the API takes it: what readers disagree about is refused, and equal values have one hash."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.strict_json import MOST_DIGITS, MOST_NESTING, NotStrictJson, canonical, digest, parsed

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)


def refusal(text: str | bytes) -> str:
    with pytest.raises(NotStrictJson) as refused:
        parsed(text.encode() if isinstance(text, str) else text)
    return str(refused.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "[1e400]", '{"x":NaN}'])
def test_numbers_that_are_none_are_refused(number: str) -> None:
    assert "JSON" in refusal(number) or "range of a double" in refusal(number)


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 5000, "0." + "1" * 5000, "1e" + "0" * 5000])
def test_a_number_of_thousands_of_digits_is_refused_before_it_is_read(digits: str) -> None:
    assert "digits" in refusal(f'{{"n":{digits}}}')


def test_numbers_beyond_64_bits_are_kept_exactly() -> None:
    value = parsed(b'{"x":30.40,"y":0.1,"z":1e200,"n":' + b"1" + b"0" * (MOST_DIGITS - 1) + b"}")
    assert isinstance(value, dict)
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize("levels", [1_000, 20_000, 100_000])
@pytest.mark.parametrize("bracket", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_refused_whatever_python_could_take(bracket: str, levels: int) -> None:
    assert f"deeper than {MOST_NESTING} levels" in refusal(bracket * levels)


def test_nesting_is_counted_outside_of_strings_and_up_to_the_limit() -> None:
    deepest = "[" * MOST_NESTING + "]" * MOST_NESTING
    assert canonical(parsed(deepest.encode())) == deepest
    assert "deeper" in refusal(f"[{deepest}]")
    brackets = json.dumps(["[" * 1000, '\\"' + "{" * 1000, "\\"])
    assert parsed(brackets.encode()) == json.loads(brackets)


@pytest.mark.parametrize(
    "text", ['{"kind":"a","kind":"b"}', '{"args":{"a":1,"a":1}}', '{"p":1,"\\u0070":9}', '[[{"a":1,"b":2,"a":3}]]']
)
def test_a_name_that_stands_twice_is_refused(text: str) -> None:
    assert "stands twice" in refusal(text)


def test_finding_a_repeated_name_among_very_many_takes_no_time() -> None:
    names = ",".join(f'"{number}":0' for number in range(60_000))
    assert "'59999' stands twice" in refusal(f'{{{names},"59999":0}}')


@pytest.mark.parametrize("text", ['"\\ud800"', '["\\udfff"]', '{"a":["\\ud83d"]}', '{"\\ud800":1}', '[[["\\ud800x"]]]'])
def test_half_of_a_surrogate_pair_is_refused_anywhere(text: str) -> None:
    assert "surrogate" in refusal(text)


@pytest.mark.parametrize(
    "text", ['"\\u0000"', '["a\\u0000"]', '{"a":"\\u0000"}', '{"\\u0000":1}', '{"a":[["\\u0000"]]}']
)
def test_a_nul_character_is_refused_anywhere(text: str) -> None:
    assert "NUL" in refusal(text)


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert parsed(b'"\\ud83d\\ude00"') == "😀"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'"\xc0\xaf"', "not UTF-8"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{'a':1}", "line 1"),
        (b'{"a":1,}', "line 1"),
        (b"[1] [2]", "line 1"),
        (b'"a\nb"', "line 1"),
        (b"01", "line 1"),
        (b'"unfinished', "line 1"),
        (b'"\\', "line 1"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(data: bytes, why: str) -> None:
    assert why in refusal(data)


@given(data=st.binary(max_size=40) | st.text('[]{}":,\\u0d8123 eE.-ntf', max_size=40).map(str.encode))
def test_any_bytes_are_a_value_or_refused_with_a_reason(data: bytes) -> None:
    try:
        value = parsed(data)
    except NotStrictJson:
        return
    assert parsed(canonical(value).encode()) == value


@given(value=values)
def test_canonical_text_reads_back_as_an_equal_value_and_is_its_own_canonical_text(value: Any) -> None:
    text = canonical(value)
    assert parsed(text.encode()) == value
    assert canonical(parsed(text.encode())) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'),
        ('{"a":1}', ' { "a" :\n1 } '),
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":100}', '{"a":1e2}'),
        ('{"a":0}', '{"a":-0.0}'),
        ('{"a":"A"}', '{"a":"\\u0041"}'),
        ('{"a":"\\/"}', '{"a":"/"}'),
    ],
)
def test_requests_that_mean_the_same_have_the_same_hash(one: str, other: str) -> None:
    assert digest(parsed(one.encode())) == digest(parsed(other.encode()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1,2]", "[2,1]"),
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":0}', '{"a":false}'),
        ('{"a":null}', "{}"),
        ('{"a":[]}', '{"a":{}}'),
        ('"e\\u0301"', '"\\u00e9"'),
        ('{"a":1}', '{"a":1.5}'),
    ],
)
def test_requests_that_differ_have_different_hashes(one: str, other: str) -> None:
    assert digest(parsed(one.encode())) != digest(parsed(other.encode()))
