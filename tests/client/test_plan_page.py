"""docs/capacity.md shows what the command says."""

import re
import shlex
from pathlib import Path

from tests.client.command import Run

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"


def test_every_line_that_the_page_shows_is_said(run: Run) -> None:
    shown = re.findall(r"```sh\ncoatcheck ([^\n]*)\n```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(shown) == 2
    for command, text in shown:
        said = run(*shlex.split(command)).stdout
        assert [line for line in text.splitlines() if line not in said.splitlines()] == []


def test_the_table_has_the_numbers_of_production(run: Run) -> None:
    said = run("plan").stdout
    for number in ("69 × 900 s ÷ 120 s = 517 jobs", "29 min", "1 h 36 min", "8 rounds, 16 min", "95 to 125 s", "÷ 14 "):
        assert number in said
        assert number.strip("÷ ") in PAGE.read_text()
