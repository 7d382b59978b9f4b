"""How the whole suite runs: file by file in processes that have a local stack each; in CI, without gaps."""

import os
import signal
from collections.abc import Generator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore it, and so would everything that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

END_TO_END = "tests/e2e/"
FEWEST_END_TO_END = 148
"""In CI a run of everything that collects fewer of them has lost some on the way. Raise it with every few new ones."""


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Tests of one file share their fixtures, so they stay in one process.

    End-to-end tests begin at once, in all processes but the last: they mostly wait, while that one computes. It begins
    at the other end, with the simulation, so that what is left for all in the end is short.
    """

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        computes = len(self.nodes) > 1 and node is self.nodes[-1]
        files = reversed(self.workqueue) if computes else iter(self.workqueue)
        chosen = next((file for file in files if file.startswith(END_TO_END) is not computes), None)
        self.workqueue.move_to_end(chosen or next(iter(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    found = sum(item.nodeid.startswith(END_TO_END) for item in session.items)
    everything = session.config.args == session.config.getini("testpaths")
    if os.environ.get("CI") and everything and found < FEWEST_END_TO_END:
        raise pytest.UsageError(f"only {found} end-to-end tests were found, not {FEWEST_END_TO_END}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
