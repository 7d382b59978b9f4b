"""Tokens of an issuer: made here with keys of the test's own, verified with what a server publishes."""

import base64
from collections.abc import Iterator
from typing import Any

import jwt
import pytest

from coatcheck.run.oidc import ASK_AGAIN_SECONDS, KEEP_KEYS_SECONDS, SILENT_SECONDS, Tokens
from coatcheck.run.settings import Issuer
from coatcheck.store import Unavailable
from tests.coatcheck.issuers import CURVE, OTHER, RSA, IssuerServer, published, running_issuer, token, unsigned


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with running_issuer() as server:
        yield server


class HandClock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def tokens(server: IssuerServer, clock: HandClock | None = None) -> Tokens:
    return Tokens(Issuer(url=server.url, audience="coatcheck", tenant_claim="org"), clock or HandClock())


def test_a_token_is_its_tenants(issuer: IssuerServer) -> None:
    known = tokens(issuer)
    assert known.identified(token(issuer)) == {"tenant": "acme", "name": "token …1234"}
    assert known.identified(token(issuer, CURVE, kid="curve", algorithm="ES256", aud=["x", "coatcheck"])) == {
        "tenant": "acme",
        "name": "token …1234",
    }
    assert issuer.asked == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1},
        {"exp": None},
        {"nbf": 99_999_999_999},
        {"iss": "https://elsewhere.example"},
        {"iss": None},
        {"aud": "another-api"},
        {"aud": None},
        {"org": None},
        {"org": "Acme Ltd"},
        {"org": ["acme"]},
        {"org": ""},
        {"exp": "soon"},
        {"exp": float("inf")},
    ],
)
def test_a_token_that_says_anything_else_is_refused(issuer: IssuerServer, claims: dict[str, Any]) -> None:
    assert set(tokens(issuer).identified(token(issuer, **claims))) == {"refusal"}


def test_a_scope_of_a_token_lets_nobody_act_for_others(issuer: IssuerServer) -> None:
    assert "scopes" not in tokens(issuer).identified(token(issuer, scope="act_as", scopes="act_as"))


def test_a_token_that_somebody_else_signed_is_refused(issuer: IssuerServer) -> None:
    known = tokens(issuer)
    assert set(known.identified(token(issuer, OTHER))) == {"refusal"}
    good = token(issuer)
    assert set(known.identified(good[:-8] + "AAAAAAAA")) == {"refusal"}


def test_a_public_key_is_no_shared_secret(issuer: IssuerServer) -> None:
    """The classic forgery: HMAC with the published key as its secret; and no signature at all."""
    for algorithm in ("HS256", "none", "None", "HS512"):
        for signature in ("", "AAAA"):
            forged = unsigned(token(issuer), algorithm, signature)
            assert set(tokens(issuer).identified(forged)) == {"refusal"}


def part(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


DEEP = part('{"alg":"RS256","kid":' + "[" * 5_000)
LONG = part('{"alg":"RS256","kid":' + "9" * 5_000 + "}")


@pytest.mark.parametrize(
    "text",
    ["a.b.c", "..", "e30.e30.e30", "x", "ü.ü.ü", f"{DEEP}.e30.e30", f"{LONG}.e30.e30"],
    ids=["a.b.c", "dots", "empty", "x", "ü", "deep", "long"],
)
def test_what_is_no_token_is_refused(issuer: IssuerServer, text: str) -> None:
    assert set(tokens(issuer).identified(text)) == {"refusal"}


def test_made_up_key_ids_do_not_make_us_ask_the_issuer_each_time(issuer: IssuerServer) -> None:
    clock = HandClock()
    known = tokens(issuer, clock)
    for number in range(10):
        assert set(known.identified(token(issuer, OTHER, kid=f"made-up-{number}"))) == {"refusal"}
    assert issuer.asked == 1
    clock.time += ASK_AGAIN_SECONDS
    issuer.keys.append(published(OTHER, "new"))
    assert known.identified(token(issuer, OTHER, kid="new"))["tenant"] == "acme"
    assert issuer.asked == 2


def test_a_key_that_the_issuer_took_back_is_not_taken_for_long(issuer: IssuerServer) -> None:
    clock = HandClock()
    known = tokens(issuer, clock)
    assert "tenant" in known.identified(token(issuer))
    issuer.keys = [published(OTHER, "new")]
    clock.time += KEEP_KEYS_SECONDS
    assert set(known.identified(token(issuer))) == {"refusal"}


@pytest.mark.parametrize(
    "rubbish",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"[" * 50_000,
        b"\xff\xfe{}",
        b'{"keys": 5}',
        b'{"issuer": 5, "jwks_uri": []}',
    ],
)
def test_an_issuer_that_answers_rubbish_is_no_refusal_and_known_keys_go_on(
    issuer: IssuerServer, rubbish: bytes
) -> None:
    clock = HandClock()
    known = tokens(issuer, clock)
    issuer.broken = rubbish
    with pytest.raises(Unavailable):
        known.identified(token(issuer))
    issuer.broken = None
    clock.time += SILENT_SECONDS
    assert "tenant" in known.identified(token(issuer))
    issuer.broken = rubbish
    clock.time += KEEP_KEYS_SECONDS
    assert "tenant" in known.identified(token(issuer))


@pytest.mark.parametrize("keys", [[], [5], [{"kty": "RSA", "n": 5}], [{**published(RSA, "x"), "kid": ["first"]}]])
def test_keys_that_are_none_are_as_good_as_no_answer(issuer: IssuerServer, keys: list[Any]) -> None:
    issuer.keys = keys
    known = tokens(issuer)
    if keys and isinstance(keys[0], dict) and "kid" in keys[0]:
        assert set(known.identified(token(issuer))) == {"refusal"}
    else:
        with pytest.raises(Unavailable):
            known.identified(token(issuer))


def test_an_issuer_that_does_not_answer_is_left_alone_for_a_moment(issuer: IssuerServer) -> None:
    clock = HandClock()
    known = tokens(issuer, clock)
    issuer.keys = []
    for _ in range(5):
        with pytest.raises(Unavailable):
            known.identified(token(issuer))
    assert issuer.asked == 1


def test_a_description_of_another_issuer_is_not_taken(issuer: IssuerServer) -> None:
    issuer.names_itself = "https://elsewhere.example"
    with pytest.raises(Unavailable):
        tokens(issuer).identified(token(issuer))


def test_keys_may_have_an_address_of_their_own(issuer: IssuerServer) -> None:
    url = "https://issuer.example/pool"
    known = Tokens(
        Issuer(url=url, audience="coatcheck", tenant_claim="org", keys_url=f"{issuer.url}/keys"), HandClock()
    )
    assert known.identified(token(issuer, iss=url))["tenant"] == "acme"
    assert set(known.identified(token(issuer))) == {"refusal"}


def test_an_issuer_that_leads_away_to_a_way_that_others_can_write_to_is_not_followed(issuer: IssuerServer) -> None:
    issuer.leads_to = f"http://localhost:{issuer.server_port}"
    with pytest.raises(Unavailable):
        tokens(issuer).identified(token(issuer))


def test_keys_are_not_fetched_over_a_way_that_others_can_write_to() -> None:
    plain = Tokens(Issuer(url="http://issuer.example", audience="coatcheck", tenant_claim="org"))
    with pytest.raises(Unavailable):
        plain.identified(jwt.encode({"org": "acme"}, RSA, algorithm="RS256", headers={"kid": "first"}))
