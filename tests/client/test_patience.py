"""Pauses are never shorter than asked, grow, are spread, and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck_client.patience import LONGEST_ASKED_SECONDS, Patience, asked_seconds
from coatcheck_client.trouble import Trouble, Unreachable
from tests.client.server import NOW, FakeTime


class AskedToWait(Unreachable):
    def __init__(self, seconds: float | None) -> None:
        super().__init__("try again")
        self.retry_after = seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        ("7", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("-5", 0.0),
        ("Wed, 21 Oct 2026 07:28:09 GMT", 9.0),
        ("Wednesday, 21-Oct-26 07:28:09 GMT", 9.0),
        ("Wed Oct 21 07:28:09 2026", 9.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2036 07:28:00 GMT", LONGEST_ASKED_SECONDS),
        ("99999999999", LONGEST_ASKED_SECONDS),
        ("inf", LONGEST_ASKED_SECONDS),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("5, 7", None),
        ("not a date GMT", None),
        ("Mon, 01 Jan 99999999999999999999 0:0:0 GMT", None),
    ],
)
def test_retry_after_in_all_its_forms(text: str, seconds: float | None) -> None:
    assert asked_seconds(text, NOW) == seconds


@given(st.text())
def test_no_retry_after_makes_a_wait_that_is_negative_or_long(text: str) -> None:
    assert 0 <= (asked_seconds(text, NOW) or 0) <= LONGEST_ASKED_SECONDS


def bear_always(patience: Patience, trouble: Trouble) -> None:
    while True:
        patience.bear(trouble)


def borne(time: FakeTime, trouble: Trouble, seconds: float = 600) -> list[float]:
    """The pauses that such trouble, again and again, leads to."""
    patience = Patience(time.clock, seconds)
    with pytest.raises(type(trouble)):
        bear_always(patience, trouble)
    return time.slept


def test_pauses_grow_to_a_bound_and_are_spread() -> None:
    assert borne(FakeTime(chance=1.0), Unreachable(""), 70)[:7] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 16.0]
    assert borne(FakeTime(chance=0.0), Unreachable(""), 30)[:6] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    assert len(borne(FakeTime(), Unreachable(""), 20_000)) > 1_024  # more than a float can be doubled


@given(st.floats(0, 100), st.floats(0, 1))
def test_no_pause_is_shorter_than_asked_and_all_end_in_time(asked: float, chance: float) -> None:
    pauses = borne(FakeTime(chance=chance), AskedToWait(asked))
    assert pauses
    assert all(pause > asked for pause in pauses)
    assert sum(pauses) < 600


def test_a_wait_that_would_be_too_long_is_not_begun() -> None:
    assert borne(FakeTime(), AskedToWait(120), seconds=60) == []


def test_trouble_that_does_not_pass_is_not_borne() -> None:
    assert borne(FakeTime(), Trouble("")) == []


def test_once_things_go_on_patience_is_as_long_as_at_first() -> None:
    time = FakeTime()
    patience = Patience(time.clock, 2)
    patience.bear(Unreachable(""))
    patience.bear(Unreachable(""))
    patience.renew()
    patience.bear(Unreachable(""))
    assert time.slept == [0.5, 1.0, 0.5]
