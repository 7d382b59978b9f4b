"""The authorizer: it says who asks, and leaves the refusal to the handlers."""

from collections.abc import Iterator
from typing import Any

import pytest

from coatcheck.api_key import api_key_place
from coatcheck.run import settings
from coatcheck.run.oidc import Tokens
from coatcheck.store import Unavailable
from coatcheck.write import put
from handlers import authorizer, ports, status
from tests.handlers.chain import counting_calls
from tests.handlers.events import LambdaContext, body_of, http_event

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


def test_a_key_with_scopes_passes_them_on() -> None:
    key = "cc_" + "s" * 43
    ports.tenants().write(put(api_key_place(key), {"tenant": "backend", "last4": "ssss", "scopes": ["act_as"]}))
    context = authorized(("authorization", f"Bearer {key}"))["context"]
    assert context == {"tenant": "backend", "name": "key …ssss", "scopes": "act_as"}


def test_a_wrong_key_costs_what_a_right_one_costs() -> None:
    ports.tenants().write(put(api_key_place(KEY), {"tenant": "acme", "last4": "kkkk"}))
    for key in (KEY, KEY[:-1] + "x", "cc_" + "0" * 43):
        with counting_calls() as calls:
            authorized(("authorization", f"Bearer {key}"))
        assert calls == {"GetItem": 1}


def test_no_more_of_a_key_than_its_end_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    for key in (KEY, "cc_" + "0" * 43):
        authorized(("authorization", f"Bearer {key}"))
    assert "kkkkk" not in (shown := capsys.readouterr().out)
    assert "00000" not in shown


TOKEN = "eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl"


def test_a_token_is_no_key_where_no_issuer_is_known() -> None:
    with counting_calls() as calls:
        context = authorized(("authorization", f"Bearer {TOKEN}"))["context"]
    assert set(context) == {"refusal"}
    assert not calls


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An issuer's tokens are taken; and a key is known."""
    monkeypatch.setenv(settings.OIDC, '{"url":"https://id.example","audience":"coatcheck","tenant_claim":"org"}')
    ports.tenants().write(put(api_key_place(KEY), {"tenant": "acme", "last4": "kkkk"}))
    for cached in (settings.issuer, authorizer._tokens):
        cached.cache_clear()
    yield
    for cached in (settings.issuer, authorizer._tokens):
        cached.cache_clear()


@pytest.mark.usefixtures("issuer")
def test_where_an_issuer_is_known_tokens_go_by_it_and_keys_by_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokens, "identified", lambda _, text: {"tenant": "globex", "name": f"token …{text[-4:]}"})
    assert authorized(("authorization", f"Bearer {TOKEN}"))["context"]["tenant"] == "globex"
    assert authorized(("authorization", f"Bearer {KEY}"))["context"]["tenant"] == "acme"
    assert set(authorized(("authorization", f"Bearer {TOKEN}{'x' * 9000}"))["context"]) == {"refusal"}


@pytest.mark.usefixtures("issuer")
def test_while_an_issuer_does_not_answer_its_callers_are_told_to_come_back_and_keys_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(tokens: Tokens, text: str) -> dict[str, str]:
        raise Unavailable("the token's issuer")

    monkeypatch.setattr(Tokens, "identified", silent)
    said = authorized(("authorization", f"Bearer {TOKEN}"))
    assert said["isAuthorized"] is True
    event = http_event("GET /v1/jobs", authorizer=said["context"])
    answer: dict[str, Any] = status.handler(event, LambdaContext())
    assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "60")
    assert "issuer" in body_of(answer)["detail"]
    assert authorized(("authorization", f"Bearer {KEY}"))["context"]["tenant"] == "acme"
