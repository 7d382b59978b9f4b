"""One mutation in a process of its own: `python -m tests.simulation.mutant NAME`. Prints what caught it, as JSON."""

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tests.simulation.mutation import Mutation
from tests.simulation.mutations import MUTATIONS

SEEDS = 200
HERE = Path(__file__).parent


class Mutated(SourceFileLoader):
    mutation: Mutation

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.get_filename(fullname)).read_text()
        if source.count(self.mutation.old) != 1:
            raise SystemExit(
                f"{self.mutation.name}: its text stands in {fullname} {source.count(self.mutation.old)} times"
            )
        return compile(source.replace(self.mutation.old, self.mutation.new), fullname, "exec")


class Finder(MetaPathFinder):
    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._mutation.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            loader = Mutated(spec.loader.name, spec.loader.path)
            loader.mutation = self._mutation
            spec.loader = loader
        return spec


def main() -> None:
    (mutation,) = (each for each in MUTATIONS if each.name == sys.argv[1])
    sys.meta_path.insert(0, Finder(mutation))
    find_spec(mutation.module)
    __import__(mutation.module)
    print(json.dumps(_by_scene(mutation.scene) if mutation.scene else _by_chance()))


def _by_chance() -> dict[str, object]:
    """The first seed that breaks a law."""
    from tests.simulation.report import Outcome, played

    class Caught(Exception):
        pass

    caught: list[Outcome] = []

    def look(outcome: Outcome) -> None:
        if outcome.breaches:
            caught.append(outcome)
            raise Caught

    with contextlib.suppress(Caught):
        played(range(SEEDS), look)
    return {"law": caught[0].breaches[0].law, "seed": caught[0].seed} if caught else {}


def _by_scene(scene: str) -> dict[str, object]:
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main([str(HERE / scene), "-q", "-p", "no:cacheprovider"])
    return {"law": scene.partition("::")[2], "seed": None} if code == pytest.ExitCode.TESTS_FAILED else {}


if __name__ == "__main__":
    main()
