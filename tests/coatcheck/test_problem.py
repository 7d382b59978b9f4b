"""Problems: refusals as RFC 9457 describes them."""

import pytest

from coatcheck.args import Fault
from coatcheck.problem import BadRequest, Problem


def subclasses() -> list[type[Problem]]:
    return Problem.__subclasses__()


@pytest.mark.parametrize("problem", subclasses(), ids=lambda problem: problem.slug)
def test_every_problem_has_a_type_a_title_its_status_and_what_to_do(problem: type[Problem]) -> None:
    document = problem("send it again").document("request-1")
    assert document["type"] == f"urn:coatcheck:problem:{problem.slug}"
    assert (document["status"], document["detail"], document["request_id"]) == (
        problem.status, "send it again", "request-1",
    )  # fmt: skip
    assert document["title"]
    assert 400 <= problem.status < 600
    assert "errors" not in document


def test_no_two_problems_have_one_name() -> None:
    assert len({problem.slug for problem in subclasses()}) == len(subclasses())


def test_faults_are_named_where_they_are() -> None:
    faults = (Fault(pointer="/args/seller", detail="required, but missing"), Fault(pointer="/lane", detail="no"))
    assert BadRequest("wrong", faults=faults).document("r")["errors"] == [
        {"pointer": "/args/seller", "detail": "required, but missing"},
        {"pointer": "/lane", "detail": "no"},
    ]
