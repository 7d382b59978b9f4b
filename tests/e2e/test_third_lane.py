"""A lane that a team adds to a checkout, as the documents say it, deployed and at work."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.stack import down, up
from coatcheck_client.project import Project, find_project
from tests.e2e.live import LiveStack
from tests.e2e.test_caps import most_at_once

DEPLOYED = ("app.py", "cdk.json", "package.json", "package-lock.json", "requirements.txt", "functions", "infra")
INSTALLED = (".venv", "node_modules")
CAP = 5
"""What the page's lane gives a tenant."""

TRANSCODE = '''\
"""A kind that needs the lane."""

from dataclasses import dataclass

from coatcheck import JobContext, Result, job


@dataclass(frozen=True, kw_only=True)
class Args:
    upload: str


@job(lane="video")
def transcode(ctx: JobContext, args: Args) -> Result:
    return Result(rows=len(args.upload))
'''


def changed_checkout(root: Path, copy: Path) -> None:
    """The team's: the page's lane beside the two that are there, and a kind that names it."""
    for name in DEPLOYED:
        source = root / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, copy / name, ignore=ignored) if source.is_dir() else shutil.copy(source, copy / name)
    for name in INSTALLED:
        (copy / name).symlink_to(root / name)
    page = (root / "docs" / "adding-a-kind.md").read_text()
    found = re.search(r"```python\n(LaneConfig\(.*?)```", page, re.DOTALL)
    assert found is not None, "the page shows no lane any more"
    config = copy / "infra" / "config.py"
    before, function, after = config.read_text().partition("def _lanes(")
    lanes, end, rest = after.partition("\n    )\n")
    config.write_text(f"{before}{function}{lanes}\n{found[1].strip()},{end}{rest}")
    (copy / "functions" / "jobs" / "transcode.py").write_text(TRANSCODE)


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    root, copy = find_project().root, tmp_path_factory.mktemp("team")
    changed_checkout(root, copy)
    project = Project(root=copy, local=copy / ".local")
    with pytest.MonkeyPatch.context() as patch, Guard() as guard:
        patch.setenv("PYTHONPATH", os.pathsep.join(str(copy / name) for name in ("functions", ".")))
        stack, _ = up(project, guard=guard, say=print, scale=1000)
        yield LiveStack(project=project, stack=stack, guard=guard)
        down(project)


def test_a_lane_that_a_team_adds_runs_its_kind_and_whatever_asks_for_it_with_its_size_and_its_cap(
    third: LiveStack,
) -> None:
    with third.client("bharat-bazaar") as client:
        made = client.submit("transcode", {"upload": "u-1"})
        asked = [client.submit("probe", {"seconds": 1}, lane="video") for _ in range(12)]
        done = client.wait_final(made, within=60)
        assert (done["state"], done["lane"]) == ("succeeded", "video"), done.get("error")
        assert done["result"]["rows"] == 3
        ends = [client.wait_final(job_id, within=120) for job_id in asked]
    assert {(each["state"], each["lane"], each["attempt"]) for each in ends} == {("succeeded", "video", 1)}
    assert 1 < most_at_once(ends) <= CAP
    assert third.functions.configuration("worker-video")["MemorySize"] == 10_240
    assert third.function_processes("worker-video")
    assert not third.function_processes("worker-interactive")
