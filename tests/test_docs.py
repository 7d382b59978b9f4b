"""What the documents say about the code is so."""

import re
from pathlib import Path

import pytest

from coatcheck.job import FINAL
from coatcheck.transition import TRANSITIONS

ROOT = Path(__file__).parents[1]
TESTS = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    named = set(re.findall(r"`(test_\w+)`", page.read_text()))
    assert {name for name in named if f"def {name}(" not in TESTS} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"`((?:functions|infra|client|docs|tests|bench)/[\w./-]+)`", text))
    linked = {link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link}
    missing = {name for name in named if not (ROOT / name).exists()}
    assert missing | {link for link in linked if not (page.parent / link).exists()} == set()


def test_the_diagram_of_states_is_the_table_of_transitions() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text().partition("stateDiagram-v2")[2].partition("```")[0]
    drawn = set(re.findall(r"^    (\w+) --> (\w+)(?:$|:)", page, re.MULTILINE))
    allowed = {(source.value, target.value) for source, targets in TRANSITIONS.items() for target in targets}
    assert drawn == allowed
    assert set(re.findall(r"^    (\w+) --> \[\*\]$", page, re.MULTILINE)) == {state.value for state in FINAL}
