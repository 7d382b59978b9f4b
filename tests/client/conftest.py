"""The command, run in this process."""

import re
from pathlib import Path

import pytest

from coatcheck_client.cli import main
from tests.client.command import Ended, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command with a stack's folder of its own, and with nothing of the developer's environment."""
    for name in ("COATCHECK_API_KEY", "COATCHECK_API_URL", "COATCHECK_STAGE", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COATCHECK_LOCAL", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("coatcheck_client.commands.options.PATIENCE_SECONDS", 0)

    def run_command(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["coatcheck", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Ended(ended.value.code, shown.out, re.sub(r"\x1b\[[0-9;]*m", "", shown.err))

    return run_command
