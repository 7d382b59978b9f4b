"""The OpenAPI document: made of the code's types, whole, and the one that is published."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

import jobs
from coatcheck.args import checked_args
from coatcheck.document import status_document
from coatcheck.listing import listing_of
from coatcheck.openapi import openapi
from coatcheck.operation import OPERATIONS
from coatcheck.problem import Problem
from coatcheck.registry import find, kinds
from coatcheck.request import MOST_LABELS
from coatcheck.route import ROUTES
from coatcheck.schemas import example_args
from tests.coatcheck.rows import NOW, TIMINGS, a_job

KIND_WITH_A_PART = """
from dataclasses import dataclass
from coatcheck import JobContext, Result, job

@dataclass(frozen=True, kw_only=True)
class Part:
    value: {hint}

@dataclass(frozen=True, kw_only=True)
class Args:
    part: Part

@job()
def {name}(ctx: JobContext, args: Args) -> Result:
    return Result()
"""
PUBLISHED = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(openapi(kinds())))
    return made


def test_the_published_document_is_the_one_that_the_code_makes(document: dict[str, Any]) -> None:
    assert json.loads(PUBLISHED.read_text()) == document, "run: make openapi"


def test_it_is_a_valid_document(document: dict[str, Any]) -> None:
    validate(document)


def test_every_route_is_described_and_nothing_else() -> None:
    assert set(OPERATIONS) == {f"{method} {route.path}" for route in ROUTES for method in route.methods}


def test_a_kind_has_its_own_route_and_the_schema_of_its_args(document: dict[str, Any]) -> None:
    body = document["paths"]["/v1/reports/gst-export"]["post"]["requestBody"]["content"]["application/json"]
    name = body["schema"]["$ref"].rpartition("/")[2]
    schema = document["components"]["schemas"][name]
    assert (schema["required"], schema["additionalProperties"]) == (["seller_id", "period"], False)


def test_every_kind_gives_an_example_that_fits_its_args_and_the_schemas(document: dict[str, Any]) -> None:
    for kind in kinds():
        args = example_args(kind)
        assert args, f"{kind.name}: give its args examples: Meta(examples=[…])"
        checked_args(kind.args, args)
        assert not schema_faults(document, f"{kind.name}.Args", args)
        assert not schema_faults(document, "JobRequest", {"kind": kind.name, "args": args})
        assert schema_faults(document, "JobRequest", {"kind": kind.name, "args": args | {"colour": "red"}})


def test_what_a_submit_may_say_besides_is_described_as_it_is_checked(document: dict[str, Any]) -> None:
    for more, good in (
        ({"labels": {"team": "tax"}}, True),
        ({"labels": {"Team": "tax"}}, False),
        ({"labels": {"team": "x" * 65}}, False),
        ({"labels": {f"l{number}": "x" for number in range(MOST_LABELS + 1)}}, False),
        ({"run_at": "2026-11-30T06:00:00+05:30", "lane": "bulk"}, True),
        ({"notify": {"webhook": True}}, False),
    ):
        faults = schema_faults(document, "JobRequest", {"kind": "probe", **more})
        assert bool(faults) != good, more


def test_two_kinds_may_have_parts_of_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(tmp_path)])
    for name, hint in (("north", "int"), ("south", "str")):
        (tmp_path / f"{name}.py").write_text(KIND_WITH_A_PART.format(name=name, hint=hint))
    made = openapi([find("north"), find("south")])
    validate(json.loads(json.dumps(made)))
    for name, value in (("north", 7), ("south", "7")):
        assert not schema_faults(made, f"{name}.Args", {"part": {"value": value}})


def test_filters_of_a_list_may_be_repeated(document: dict[str, Any]) -> None:
    parameters = {each["name"]: each for each in document["paths"]["/v1/jobs"]["get"]["parameters"]}
    for name in ("state", "kind", "label"):
        assert (parameters[name]["schema"]["type"], parameters[name]["explode"]) == ("array", True)
        query = {name: ",".join(parameters[name]["example"])}  # as the gateway joins them
        assert listing_of(query).filtered


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    found = {name.rpartition("/")[2] for name in references(document)}
    assert found - set(schemas) == set()


def test_every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    names = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(set(names)) == len(names)


def test_every_private_operation_says_that_it_may_not_know_the_caller(document: dict[str, Any]) -> None:
    for path in document["paths"].values():
        for each in path.values():
            assert ("401" in each["responses"]) == bool(each["security"])


def test_a_document_has_the_names_that_its_schema_has(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["StatusDocument"]
    shown = status_document(a_job(), NOW, TIMINGS, lambda *_: "/v1/results/token")
    assert set(schema["required"]) <= set(shown) <= set(schema["properties"])


def test_no_two_problems_share_a_status_and_differ_in_their_title(document: dict[str, Any]) -> None:
    titles = {each.status: each.title for each in Problem.__subclasses__()}
    assert len(titles) == len(Problem.__subclasses__())
    described = document["paths"]["/v1/jobs/{id}"]["get"]["responses"]["404"]["description"]
    assert described == titles[404]


def schema_faults(document: Mapping[str, Any], name: str, value: object) -> list[str]:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    return [fault.message for fault in Draft202012Validator(schema).iter_errors(value)]


def references(value: Any) -> set[str]:
    match value:
        case {"$ref": str(name)}:
            return {name}
        case dict():
            return set[str]().union(*map(references, value.values()))
        case list():
            return set[str]().union(*map(references, value))
    return set()
