"""Signed links: they open one result for a time, and nothing that was not signed here opens anything."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.problem import Forbidden, Gone
from coatcheck.result_link import opened, signed
from tests.coatcheck.rows import JOB_ID, NOW

KEY = b"k" * 64
UNTIL = NOW + timedelta(hours=24)
TOKEN = signed(JOB_ID, UNTIL, KEY)


def test_a_link_opens_its_own_job_until_its_time_is_over() -> None:
    assert opened(TOKEN, NOW, KEY) == JOB_ID
    assert opened(TOKEN, UNTIL - timedelta(seconds=1), KEY) == JOB_ID
    with pytest.raises(Gone, match="expired"):
        opened(TOKEN, UNTIL, KEY)


def test_a_token_is_fit_for_an_address() -> None:
    assert TOKEN.isascii()
    assert all(each.isalnum() or each in "._-" for each in TOKEN)
    assert len(TOKEN) < 100


@pytest.mark.parametrize("place", range(len(TOKEN)))
def test_a_token_with_any_character_changed_is_forged(place: int) -> None:
    other = "1" if TOKEN[place] == "0" else "0"
    with pytest.raises(Forbidden):
        opened(TOKEN[:place] + other + TOKEN[place + 1 :], NOW, KEY)


def test_a_link_of_another_key_is_forged_even_when_it_has_expired() -> None:
    with pytest.raises(Forbidden):
        opened(signed(JOB_ID, UNTIL, b"another"), UNTIL + timedelta(days=1), KEY)


@given(st.text(max_size=100))
@pytest.mark.parametrize("cut", [0, 20, len(TOKEN) - 1])
def test_no_text_opens_anything(cut: int, text: str) -> None:
    with pytest.raises(Forbidden):
        opened(TOKEN[:cut] + text + "x", NOW, KEY)


@pytest.mark.parametrize("token", ["", ".", "..", f"{TOKEN}=", f" {TOKEN}", f"{TOKEN}\n", TOKEN.upper(), TOKEN * 1000])
def test_odd_spellings_of_a_token_are_forged(token: str) -> None:
    with pytest.raises(Forbidden):
        opened(token, NOW, KEY)
