"""What is shown of a job's progress."""

import json

import pytest

from coatcheck_client.display import Display, JsonLines, PlainLines
from coatcheck_client.job import job_of
from tests.client.server import document


@pytest.mark.parametrize("display", [PlainLines(), JsonLines()])
def test_nothing_is_printed_twice(display: Display, capsys: pytest.CaptureFixture[str]) -> None:
    with display:
        display.show(job_of(document("queued")))
        display.show(job_of(document("queued")))
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_programs_see_also_what_this_version_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    newer = document("queued", ahead=3)
    JsonLines().show(job_of(newer))
    assert json.loads(capsys.readouterr().out) == newer
