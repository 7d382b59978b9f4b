"""The authorizer: it says who asks, and leaves the refusal to the handlers."""

from typing import Any

import pytest

from coatcheck.api_key import api_key_place
from coatcheck.write import put
from handlers import authorizer, ports
from tests.handlers.events import LambdaContext

pytestmark = pytest.mark.usefixtures("aws")

KEY = "cc_" + "k" * 43


def authorized(*headers: tuple[str, str]) -> dict[str, Any]:
    event = {
        "version": "2.0",
        "type": "REQUEST",
        "routeArn": "arn:aws:execute-api:ap-south-1:123456789012:abc123/$default/GET/v1/jobs/j_1",
        "identitySource": [value for _, value in headers],
        "routeKey": "GET /v1/jobs/{id}",
        "rawPath": "/v1/jobs/j_1",
        "headers": dict(headers) or None,
    }
    return authorizer.handler(event, LambdaContext())


def test_a_known_key_is_its_tenants() -> None:
    ports.tenants().write(put(api_key_place(KEY), {"tenant": "acme", "last4": "kkkk"}))
    assert authorized(("authorization", f"Bearer {KEY}")) == {
        "isAuthorized": True,
        "context": {"tenant": "acme", "name": "key …kkkk"},
    }


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer cc_short", f"Basic {KEY}", "Bearer cc_" + "0" * 43])
def test_any_other_key_is_let_through_with_a_refusal_and_without_a_tenant(header: str) -> None:
    answer = authorized(("authorization", header))
    assert answer["isAuthorized"] is True
    assert set(answer["context"]) == {"refusal"}


def test_a_request_without_headers_is_refused_too() -> None:
    assert set(authorized()["context"]) == {"refusal"}
