"""The OpenAPI document: made of the code's types, whole, and the one that is published."""

import json
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from coatcheck.document import status_document
from coatcheck.openapi import openapi
from coatcheck.operation import OPERATIONS
from coatcheck.problem import Problem
from coatcheck.registry import kinds
from coatcheck.route import ROUTES
from tests.coatcheck.rows import NOW, TIMINGS, a_job

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


def references(value: Any) -> set[str]:
    match value:
        case {"$ref": str(name)}:
            return {name}
        case dict():
            return set[str]().union(*map(references, value.values()))
        case list():
            return set[str]().union(*map(references, value))
    return set()
