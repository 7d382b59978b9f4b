"""A job's args: every fault is named where it is, and nothing is passed over."""

from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, ClassVar, Literal

import pytest
from msgspec import Meta

from coatcheck.args import Fault, InvalidArgs, checked_args

Code = Annotated[str, Meta(pattern=r"^[A-Z]{3}$")]


@dataclass(frozen=True, kw_only=True)
class Address:
    pin: Annotated[str, Meta(pattern=r"^\d{6}$")]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Args:
    VERSION: ClassVar[int] = 1
    seller: Annotated[str, Meta(pattern=r"^\d{1,12}$")]
    count: Annotated[int, Meta(ge=0, le=10)] = 1
    mode: Literal["full", "delta"] = "full"
    since: date | None = None
    rate: float = 1.0
    home: Address | None = None
    offices: list[Address] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    pair: tuple[Code, Address] | None = None
    by_name: dict[str, Code] = field(default_factory=dict)
    few: Annotated[list[int], Meta(max_length=2)] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.mode == "delta" and self.since is None:
            raise ValueError("a delta needs `since`")
        if self.count == 9:
            raise TypeError("nine is not taken")


def faults(value: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidArgs) as invalid:
        checked_args(Args, value)
    return [(fault.pointer, fault.detail) for fault in invalid.value.faults]


def places(value: dict[str, Any]) -> list[str]:
    return [pointer for pointer, _ in faults({"seller": "1"} | value)]


def test_args_that_fit_become_the_kinds_own_value() -> None:
    value = {"seller": "48812", "since": "2026-10-01", "home": {"pin": "560001", "lines": ["a"]}, "rate": 2}
    home = Address(pin="560001", lines=("a",))
    assert checked_args(Args, value) == Args(seller="48812", since=date(2026, 10, 1), home=home, rate=2.0)


def test_every_fault_is_listed_at_once() -> None:
    value = {"count": 11, "mode": "half", "rate": "fast", "color": "red", "home": {"pin": "x", "flat": 3}}
    assert {pointer for pointer, _ in faults(value)} == {
        "/args/seller", "/args/count", "/args/mode", "/args/rate", "/args/color", "/args/home/pin",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"count": True}, "/args/count"),
        ({"count": 1.0}, "/args/count"),
        ({"count": 10**39}, "/args/count"),
        ({"rate": 10**400}, "/args/rate"),
        ({"since": "2026-02-30"}, "/args/since"),
        ({"mode": None}, "/args/mode"),
        ({"home": []}, "/args/home"),
        ({"home": {"pin": "12345"}}, "/args/home/pin"),
        ({"home": {}}, "/args/home"),
        ({"home": {"pin": "123456", "lines": [1]}}, "/args/home/lines/0"),
        ({"offices": [{"pin": "123456"}, {"pin": 7}]}, "/args/offices/1/pin"),
        ({"few": [1, 2, 3]}, "/args/few"),
        ({"VERSION": 2}, "/args/VERSION"),
    ],
)
def test_a_fault_is_named_where_it_is(value: dict[str, Any], pointer: str) -> None:
    assert places(value) == [pointer]


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"color": "red"}, "/args/color"),
        ({"a/b~c": 1}, "/args/a~1b~0c"),
        ({"": 1}, "/args/"),
        ({"home": {"pin": "123456", "flat": 3}}, "/args/home/flat"),
        ({"offices": [{"pin": "123456"}, {"pin": "123456", "flat": 3}]}, "/args/offices/1/flat"),
        ({"pair": ["ABC", {"pin": "123456", "flat": 3}]}, "/args/pair/1/flat"),
    ],
)
def test_an_unknown_name_is_a_fault_at_any_depth_and_never_ignored(value: dict[str, Any], pointer: str) -> None:
    ((place, detail),) = faults({"seller": "1"} | value)
    assert place == pointer
    assert detail.startswith("unknown; the args are ")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"seller": "48812\n"}, "/args/seller"),
        ({"home": {"pin": "123456\n"}}, "/args/home/pin"),
        ({"offices": [{"pin": "123456\n"}]}, "/args/offices/0/pin"),
        ({"codes": ["ABC", "ABC\n"]}, "/args/codes/1"),
        ({"pair": ["ABC\n", {"pin": "123456"}]}, "/args/pair/0"),
        ({"by_name": {"x": "ABC\n"}}, "/args/by_name/x"),
    ],
)
def test_a_line_feed_does_not_slip_past_the_end_of_a_pattern(value: dict[str, Any], pointer: str) -> None:
    assert places(value) == [pointer]


def test_a_kinds_own_check_speaks_for_the_args_as_a_whole() -> None:
    assert faults({"seller": "1", "mode": "delta"}) == [("/args", "a delta needs `since`")]
    assert faults({"seller": "1", "count": 9}) == [("/args", "nine is not taken")]


def test_pointers_start_where_the_args_stand_in_the_body() -> None:
    with pytest.raises(InvalidArgs) as invalid:
        checked_args(Args, {"seller": 7}, "")
    assert invalid.value.faults == (Fault(pointer="/seller", detail="Expected `str`, got `int`"),)


def test_a_kind_without_args_takes_none() -> None:
    @dataclass(frozen=True)
    class Nothing:
        pass

    assert checked_args(Nothing, {}) == Nothing()
    with pytest.raises(InvalidArgs, match="the args are none"):
        checked_args(Nothing, {"a": 1})
