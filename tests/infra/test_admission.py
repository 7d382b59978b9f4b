"""Admission as the functions are told of it, and as docs/limits.md tells it."""

from pathlib import Path

import msgspec
import pytest

from coatcheck.admission import AdmissionTerms
from coatcheck.load import COUNT_EVERY
from coatcheck.run import settings
from infra.admission import admission_terms
from infra.config import CONFIGS, Config, Stage
from tests.infra.template import Template

PAGE = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()


@pytest.mark.parametrize("name", ["submit", "operator"])
def test_who_lets_jobs_in_and_who_shows_it_are_told_the_same(template: Template, name: str) -> None:
    told = msgspec.json.decode(template.environment(name)[settings.ADMISSION], type=AdmissionTerms)
    assert told in [admission_terms(config) for config in CONFIGS.values()]


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_lane_has_a_line_that_it_drains_in_time(config: Config) -> None:
    terms = admission_terms(config)
    for lane in config.lanes:
        slots = config.maximum_concurrency[lane.name]
        assert terms.lines[lane.name] * terms.job_seconds / slots <= terms.line_seconds == 15 * 60
    assert terms.count_seconds > max(COUNT_EVERY, config.timings.supervise_every).total_seconds()


@pytest.mark.parametrize("stage", [Stage.DEV, Stage.PROD])
def test_the_page_has_the_numbers_of_the_config(stage: Stage) -> None:
    on_aws, local = CONFIGS[stage].admission, CONFIGS[Stage.LOCAL].admission
    rate = f"| {on_aws.requests_per_second}, {on_aws.burst} | {local.requests_per_second:,}, {local.burst:,} |"
    assert rate in PAGE
    assert f"| {on_aws.open_jobs:,} | {local.open_jobs:,} |" in PAGE
    for lane, cap in CONFIGS[stage].caps.items():
        assert f"| `{lane}` | {cap} |" in PAGE
