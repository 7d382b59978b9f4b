"""File names of downloads: any script for clients of today, ASCII for the others, and no way out of the header."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.disposition import attachment

FORM = re.compile(
    r"attachment; filename=\"(?P<plain>[^\"\\%\x00-\x1f\x7f-\U0010ffff]*)\"; filename\*=UTF-8''(?P<full>\S*)"
)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("report.csv.gz", "report.csv.gz"),
        ("a b (1).csv", "a b (1).csv"),
        ("Übersicht café.pdf", "Ubersicht cafe.pdf"),
        ("रिपोर्ट.csv", "______.csv"),
        ("報告.csv", "__.csv"),
        ('say "hi"\\.csv', "say _hi__.csv"),
        ("100%41.csv", "100_41.csv"),
        ("a\r\nSet-Cookie: x=1", "a__Set-Cookie_ x=1"),
        ("😀.txt", "_.txt"),
    ],
)
def test_a_name_comes_whole_and_in_ascii(name: str, plain: str) -> None:
    found = FORM.fullmatch(attachment(name))
    assert found is not None
    assert (unquote(found["full"]), found["plain"]) == (name, plain)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_no_name_breaks_the_header(name: str) -> None:
    found = FORM.fullmatch(attachment(name))
    assert found is not None
    assert unquote(found["full"]) == name
