"""How the rules are tested: property tests repeat themselves, and the tests bring kinds of their own."""

from pathlib import Path

import pytest
from hypothesis import settings

import jobs

settings.register_profile("coatcheck", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("coatcheck")

KINDS = Path(__file__).parent / "kinds"


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tests' own kinds stand beside the real ones, as files do."""
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(KINDS)])
    return KINDS
