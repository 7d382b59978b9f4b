"""The catalogue: every kind that can be loaded, as its file declares it."""

from pathlib import Path

import pytest

import jobs
from coatcheck import registry
from coatcheck.catalogue import KindDocument, args_schema, kind_list


def documents() -> dict[str, KindDocument]:
    return {item.name: item for item in kind_list().items}


@pytest.mark.usefixtures("kinds")
def test_a_kind_is_shown_as_its_file_declares_it() -> None:
    shown = documents()["monthly-report"]
    assert shown == KindDocument(
        name="monthly-report",
        description="A kind of which each seller and period have one open job at most.",
        lane="bulk",
        route="/v1/reports/monthly",
        unique=("seller_id", "period"),
        timeout_seconds=900,
        max_failures=5,
        args=shown.args,
    )
    (args,) = shown.args["$defs"].values()
    assert (args["required"], args["additionalProperties"]) == (["seller_id"], False)
    assert args["properties"]["seller_id"] == {"type": "string", "pattern": r"^\d{1,12}$"}
    assert args["properties"]["period"]["default"] == "2026-10"


@pytest.mark.usefixtures("kinds")
def test_every_kind_with_a_file_is_there_by_name() -> None:
    assert list(documents()) == sorted(registry.names())
    assert {"gst-export", "probe", "script"} <= set(documents())


def test_a_broken_kind_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_written.py").write_text("import no_such_module\n")
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(tmp_path)])
    told: list[tuple[str, str]] = []
    shown = kind_list(lambda name, error: told.append((name, type(error).__name__)))
    assert told == [("half-written", "BrokenKind")]
    assert {"gst-export", "probe"} <= {item.name for item in shown.items}


@pytest.mark.usefixtures("kinds")
def test_the_schema_of_every_kind_refuses_names_that_it_does_not_know() -> None:
    for kind in registry.kinds():
        schema = args_schema(kind.args)
        top = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        assert top["additionalProperties"] is False
