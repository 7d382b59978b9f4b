"""A deadline night with a noisy tenant, nightly jobs and an archive: who waits for how long, by what is switched on."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from bench.night.arrivals import Who
from bench.night.picture import picture
from bench.night.scenes import planned, played, scenes
from bench.night.table import table
from bench.night.waits import Waits
from bench.results import record
from infra.config import CONFIGS, Stage

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "fairness.md"
SEEDS = range(1, 5)
"""One night alone is luck: the p95 of quiet tenants differs by a third from one to the next."""


def main() -> None:
    config = CONFIGS[Stage.PROD]
    full, sized = scenes(config), planned(config)
    found = played(config, [*full, *sized], SEEDS)
    deadline = {scene.name: waits for scene, waits in zip(full, found, strict=False)}
    as_planned = {scene.name: waits for scene, waits in zip(sized, found[len(full) :], strict=True)}
    tables = {"deadline": table(deadline), "planned": table(as_planned, (Who.QUIET, Who.NOISY))}
    record("fairness", {"deadline": _recorded(deadline), "planned": _recorded(as_planned)})
    (DOCS / "fairness.svg").write_text(picture(deadline))
    text = PAGE.read_text()
    for name, rows in tables.items():
        text = with_table(text, name, rows)
        print(rows)
    PAGE.write_text(text)


def with_table(page: str, name: str, rows: str) -> str:
    """The page with these rows between the marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{rows}\n{end}{rest.partition(end)[2]}"


def _recorded(scenes: Mapping[str, Waits]) -> dict[str, object]:
    return {name: {str(who): asdict(wait) for who, wait in waits.items()} for name, waits in scenes.items()}


if __name__ == "__main__":
    main()
