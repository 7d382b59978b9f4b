"""The registry: a kind is a file, and a broken file breaks only its own kind."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import jobs
from coatcheck.registry import BrokenKind, UnknownKind, find, kinds, names

GOOD = """
from dataclasses import dataclass
from coatcheck import JobContext, Result, job

@dataclass(frozen=True, kw_only=True)
class Args:
    pass

@job()
def handle(ctx: JobContext, args: Args) -> Result:
    return Result()
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Writes a kind's file beside the real ones."""
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(tmp_path)])
    before = set(sys.modules)

    def forget() -> None:
        for module in [name for name in set(sys.modules) - before if name.startswith("jobs.")]:
            del sys.modules[module]
        importlib.invalidate_caches()

    def write_file(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        forget()

    yield write_file
    forget()


def test_adding_a_file_is_adding_a_kind(write: Callable[[str, str], None]) -> None:
    write("stock_count.py", GOOD)
    assert "stock-count" in names()
    assert find("stock-count").name == "stock-count"
    assert find("probe").name == "probe"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import a_library_that_is_not_there", "a_library_that_is_not_there"),
        ("raise RuntimeError('not today')", "RuntimeError: not today"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "declares 0 jobs"),
        (GOOD + GOOD.partition("@job")[2].join(["@job", ""]).replace("handle", "handle_too"), "declares 2 jobs"),
        (GOOD.replace("@job()", "@job(lane='bulk', route='x')"), "must look like"),
        ("from jobs.probe import probe", "declares 0 jobs"),
    ],
)
def test_a_broken_file_breaks_only_its_own_kind_and_says_why(
    write: Callable[[str, str], None], text: str, why: str
) -> None:
    write("crooked.py", text)
    with pytest.raises(BrokenKind) as broken:
        find("crooked")
    assert why in str(broken.value)
    assert broken.value.name == "crooked"
    assert find("probe").name == "probe"
    assert "crooked" in names()


def test_a_file_that_was_mended_works_at_the_next_request(write: Callable[[str, str], None]) -> None:
    write("crooked.py", "raise RuntimeError")
    with pytest.raises(BrokenKind):
        find("crooked")
    write("crooked.py", GOOD + "\n# mended, and longer than before\n")
    assert find("crooked").name == "crooked"


@pytest.mark.parametrize(
    "name", ["", "no-such-kind", "Probe", "probe ", "probe\n", "../probe", "os", "_private", "a_b"]
)
def test_what_has_no_file_is_unknown(name: str, write: Callable[[str, str], None]) -> None:
    write("_private.py", GOOD)
    write("a_b.py", GOOD)
    with pytest.raises(UnknownKind) as unknown:
        find(name)
    assert unknown.value.name == name


def test_every_shipped_kind_can_be_loaded() -> None:
    assert {kind.name for kind in kinds()} == names() >= {"probe"}


def test_a_file_that_ends_the_process_when_imported_breaks_only_its_own_kind(write: Callable[[str, str], None]) -> None:
    write("ending.py", "raise SystemExit(1)")
    with pytest.raises(BrokenKind, match="SystemExit"):
        find("ending")
    assert find("probe").name == "probe"
