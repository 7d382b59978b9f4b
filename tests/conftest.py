"""How the whole suite runs: in two processes, one of them for what shares the local stack; in CI, without gaps."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore it, and so would everything that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

END_TO_END = Path(__file__).parent / "e2e"
FEWEST_END_TO_END = 120
"""In CI a run of everything that collects fewer of them has lost some on the way. Raise it with every few new ones."""


@pytest.hookimpl(tryfirst=True)  # before xdist asks for the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one file share their fixtures, so they stay in one process; all end-to-end tests share one stack."""
    end_to_end = [item for item in items if item.path.is_relative_to(END_TO_END)]
    for item in items:
        group = "stack" if item.path.is_relative_to(END_TO_END) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
    everything = config.args == config.getini("testpaths")
    if os.environ.get("CI") and everything and len(end_to_end) < FEWEST_END_TO_END:
        raise pytest.UsageError(f"only {len(end_to_end)} end-to-end tests were found, not {FEWEST_END_TO_END}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
