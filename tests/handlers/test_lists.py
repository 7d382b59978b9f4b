"""GET /v1/jobs and /v1/kinds: pages that can be followed, problems that name the parameter."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from coatcheck import registry
from coatcheck.catalogue import KindList
from coatcheck.job import State
from coatcheck.listing import JobPage
from handlers import status, submit
from tests.handlers.chain import counting_calls
from tests.handlers.events import LambdaContext, body_of, http_event
from tests.handlers.jobs_table import add_job, new_id, spoil

pytestmark = pytest.mark.usefixtures("aws")


def listed(tenant: str, **query: str) -> dict[str, Any]:
    authorizer = {"tenant": tenant, "name": "key …abcd"}
    return status.handler(http_event("GET /v1/jobs", query=query, authorizer=authorizer), LambdaContext())


def ids_of(answer: dict[str, Any]) -> list[str]:
    assert answer["statusCode"] == 200
    page = msgspec.convert(body_of(answer), JobPage, strict=True)
    return [item.id for item in page.items]


def next_query(answer: dict[str, Any]) -> dict[str, str] | None:
    link = answer["headers"].get("Link")
    return None if link is None else dict(parse_qsl(link.partition("?")[2].partition(">")[0]))


def jobs_of(tenant: str, number: int, **changes: Any) -> list[str]:
    return [add_job(tenant=tenant, **changes).id for _ in range(number)]


def test_pages_follow_their_links_to_the_end_newest_first() -> None:
    tenant = new_id()
    made = jobs_of(tenant, 7)
    found, query = [], dict[str, str](limit="3")
    while True:
        answer = listed(tenant, **query)
        found += ids_of(answer)
        if (further := next_query(answer)) is None:
            break
        assert further | {"limit": "3"} == further
        query = further
    assert found == sorted(made, reverse=True)


def test_an_item_is_the_status_document_of_its_job() -> None:
    tenant = new_id()
    job = add_job(tenant=tenant, labels={"team": "tax"})
    (item,) = body_of(listed(tenant, label="team:tax"))["items"]
    event = http_event("GET /v1/jobs/{id}", path={"id": job.id}, authorizer={"tenant": tenant})
    assert item == body_of(status.handler(event, LambdaContext()))


def test_filters_narrow_the_list_and_are_kept_by_its_links() -> None:
    tenant = new_id()
    failed = jobs_of(tenant, 2, state=State.FAILED)
    jobs_of(tenant, 2)
    answer = listed(tenant, state="failed,cancelled", kind="probe", limit="1")
    assert ids_of(answer) == [max(failed)]
    assert (query := next_query(answer)) is not None
    assert {name: query[name] for name in ("state", "kind", "limit")} == {
        "state": "failed,cancelled",
        "kind": "probe",
        "limit": "1",
    }
    assert ids_of(listed(tenant, **query)) == [min(failed)]


def test_another_tenants_jobs_are_not_in_the_list_and_their_cursors_lead_nowhere() -> None:
    ours, theirs = new_id(), new_id()
    jobs_of(theirs, 3)
    assert body_of(listed(ours)) == {"items": []}
    query = next_query(listed(theirs, limit="1"))
    assert query is not None
    assert ids_of(listed(ours, **query)) == []


def test_a_job_that_cannot_be_read_is_logged_and_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    tenant = new_id()
    broken, fine = jobs_of(tenant, 2)
    spoil(broken)
    assert ids_of(listed(tenant)) == [fine]
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert vars(error)["job_id"] == broken


@pytest.mark.parametrize(
    ("name", "value"),
    [("state", "done"), ("kind", "A"), ("label", "x"), ("limit", "0"), ("cursor", "!"), ("offset", "1")],
)
def test_a_bad_parameter_is_a_problem_that_names_it(name: str, value: str) -> None:
    answer = listed("acme", **{name: value})
    assert (answer["statusCode"], answer["headers"]["Content-Type"]) == (400, "application/problem+json")
    assert [error["pointer"] for error in body_of(answer)["errors"]] == [f"?{name}"]


def test_a_page_takes_two_calls() -> None:
    tenant = new_id()
    jobs_of(tenant, 5)
    with counting_calls() as calls:
        listed(tenant)
    assert calls == {"Query": 1, "BatchGetItem": 1}


def test_a_caller_who_is_not_known_sees_neither_jobs_nor_kinds() -> None:
    for route, handler in (("GET /v1/jobs", status.handler), ("GET /v1/kinds", submit.handler)):
        answer: dict[str, Any] = handler(http_event(route, authorizer={"refusal": "no"}), LambdaContext())
        assert answer["statusCode"] == 401


def test_the_kinds_are_listed_with_what_they_take() -> None:
    answer: dict[str, Any] = submit.handler(http_event("GET /v1/kinds"), LambdaContext())
    kinds = msgspec.convert(body_of(answer), KindList)
    assert [kind.name for kind in kinds.items] == sorted(registry.names())
    assert all(kind.description and kind.args for kind in kinds.items)
