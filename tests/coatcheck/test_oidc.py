"""Tokens of an issuer: made here with keys of the test's own, verified with what a server publishes."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, cast

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from coatcheck.run.oidc import ASK_AGAIN_SECONDS, KEEP_KEYS_SECONDS, Tokens
from coatcheck.run.settings import Issuer
from coatcheck.store import Unavailable

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())


class IssuerServer(HTTPServer):
    """An issuer on the loopback interface, which counts how often it is asked for its keys."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked = 0
        self.broken = False
        self.keys: list[dict[str, Any]] = []


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast("IssuerServer", self.server)
        if self.path == "/keys":
            server.asked += 1
            body = {"keys": server.keys}
        else:
            assert self.path == "/.well-known/openid-configuration"
            body = cast("Any", {"issuer": server.url, "jwks_uri": f"{server.url}/keys"})
        data = b"<html>" if server.broken else json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def published(key: Any, key_id: str) -> dict[str, Any]:
    algorithm: Any = (
        jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else (jwt.algorithms.RSAAlgorithm)
    )
    made: dict[str, Any] = algorithm.to_jwk(key.public_key(), as_dict=True)
    return made | {"kid": key_id, "use": "sig"}


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with IssuerServer() as server:
        server.keys = [published(RSA, "first"), published(CURVE, "curve")]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class HandClock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def tokens(server: IssuerServer, clock: HandClock | None = None) -> Tokens:
    return Tokens(Issuer(url=server.url, audience="coatcheck", tenant_claim="org"), clock or HandClock())


def token(server: IssuerServer, key: Any = RSA, *, kid: str = "first", algorithm: str = "RS256", **claims: Any) -> str:
    now = round(time.time())
    given = {"iss": server.url, "aud": "coatcheck", "sub": "user-1234", "org": "acme", "exp": now + 300} | claims
    return jwt.encode({k: v for k, v in given.items() if v is not None}, key, algorithm=algorithm, headers={"kid": kid})


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
    head, body, _ = token(issuer).split(".")
    for algorithm in ("HS256", "none", "None", "HS512"):
        header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "first"}).encode()).rstrip(b"=").decode()
        assert header != head
        for signature in ("", "AAAA"):
            assert set(tokens(issuer).identified(f"{header}.{body}.{signature}")) == {"refusal"}


@pytest.mark.parametrize("text", ["a.b.c", "..", "e30.e30.e30", "x", "ü.ü.ü"])
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


def test_an_issuer_that_does_not_answer_is_no_refusal_and_known_keys_go_on(issuer: IssuerServer) -> None:
    clock = HandClock()
    known = tokens(issuer, clock)
    issuer.broken = True
    with pytest.raises(Unavailable):
        known.identified(token(issuer))
    issuer.broken = False
    assert "tenant" in known.identified(token(issuer))
    issuer.broken = True
    clock.time += KEEP_KEYS_SECONDS
    assert "tenant" in known.identified(token(issuer))


def test_keys_are_not_fetched_over_a_way_that_others_can_write_to() -> None:
    plain = Tokens(Issuer(url="http://issuer.example", audience="coatcheck", tenant_claim="org"))
    with pytest.raises(Unavailable):
        plain.identified(jwt.encode({"org": "acme"}, RSA, algorithm="RS256", headers={"kid": "first"}))
