"""The list of mutations is of this code: whoever changes a guard changes the mutation that takes it away."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.simulation.mutation import Mutation
from tests.simulation.mutations import MUTATIONS

HERE = Path(__file__).parent


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_what_a_mutation_takes_away_stands_in_its_module_once_and_its_scene_is_there(mutation: Mutation) -> None:
    spec = find_spec(mutation.module)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).read_text().count(mutation.old) == 1
    if mutation.scene is not None:
        file, _, test = mutation.scene.partition("::")
        assert f"def {test.partition('[')[0]}(" in (HERE / file).read_text()
