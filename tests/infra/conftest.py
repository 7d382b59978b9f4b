"""The templates of all stages, each synthesized once."""

from collections.abc import Mapping

import pytest

from infra.config import CONFIGS, Stage
from tests.infra.template import Template, synthesized


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Stage, Template]:
    return {stage: synthesized(config, tmp_path_factory.mktemp(f"synth-{stage}")) for stage, config in CONFIGS.items()}


@pytest.fixture(params=list(Stage))
def template(request: pytest.FixtureRequest, templates: Mapping[Stage, Template]) -> Template:
    """Each stage in turn."""
    return templates[request.param]


@pytest.fixture(params=[Stage.DEV, Stage.PROD])
def on_aws(request: pytest.FixtureRequest, templates: Mapping[Stage, Template]) -> Template:
    """Each stage that runs on AWS in turn."""
    return templates[request.param]
