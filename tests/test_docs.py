"""What the documents say about the code is so."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jobs
from coatcheck.job import FINAL
from coatcheck.registry import find
from coatcheck.schemas import example_args
from coatcheck.transition import TRANSITIONS
from infra.capacity import LaneConfig
from infra.config import CONFIGS, Stage

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


def shown(page: str) -> list[str]:
    """The Python that a page shows."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def test_the_kind_that_a_page_shows_can_be_loaded_performed_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, tests, _ = shown("adding-a-kind.md")
    (tmp_path / "greeting.py").write_text(kind)
    monkeypatch.setattr(jobs, "__path__", [str(tmp_path)])
    declared = find("greeting")
    assert example_args(declared) == {"seller_id": "48812"}
    exec(tests, vars(sys.modules.pop("jobs.greeting")))  # noqa: S102  # what is tested


def test_the_lane_that_a_page_shows_fits_every_stage_and_takes_its_slots_from_the_others() -> None:
    page = (ROOT / "docs" / "adding-a-kind.md").read_text()
    slots: dict[Stage, dict[str, int]] = {}
    for stage, config in CONFIGS.items():
        beside = config.lanes[0]
        names: dict[str, Any] = {"LaneConfig": LaneConfig, "replace": replace, "worker": beside.size}
        names["visibility_margin_seconds"] = beside.visibility_margin_seconds
        lane: LaneConfig = eval(shown("adding-a-kind.md")[-1], names)  # noqa: S307  # what is tested
        assert lane.visibility_seconds == beside.visibility_seconds
        slots[stage] = replace(config, lanes=(*config.lanes, lane)).maximum_concurrency
    now, then = CONFIGS[Stage.PROD].maximum_concurrency, slots[Stage.PROD]
    says = f"gets {then['interactive']} instead of {now['interactive']}, `bulk` {then['bulk']} instead of {now['bulk']}"
    assert says in " ".join(page.split())
    assert f"`video` {then['video']}." in page


def test_for_how_long_a_slot_is_kept_for_a_dead_worker_is_the_visibility_of_its_lane() -> None:
    seconds = {stage: {lane.visibility_seconds for lane in config.lanes} for stage, config in CONFIGS.items()}
    (aws,), (local,) = seconds[Stage.PROD] | seconds[Stage.DEV], seconds[Stage.LOCAL]
    said = " ".join((ROOT / "docs" / "limits.md").read_text().split())
    assert f"the lane's visibility, {aws} s in `dev` and `prod`, {local} s in `local`" in said
