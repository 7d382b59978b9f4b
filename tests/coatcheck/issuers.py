"""An OpenID Connect issuer on the loopback interface, and tokens that it signs, or that somebody else does."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())


class IssuerServer(HTTPServer):
    """An issuer on the loopback interface, which counts how often it is asked for its keys."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked = 0
        self.broken: bytes | None = None
        """What it answers instead, to everything."""

        self.leads_to: str | None = None
        self.names_itself = self.url
        self.keys: list[dict[str, Any]] = []


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = cast("IssuerServer", self.server)
        if self.path == "/keys":
            server.asked += 1
            body = {"keys": server.keys}
        else:
            assert self.path == "/.well-known/openid-configuration"
            body = cast("Any", {"issuer": server.names_itself, "jwks_uri": f"{server.url}/keys"})
        if server.leads_to and server.leads_to not in f"http://{self.headers['Host']}":
            self.send_response(302)
            self.send_header("Location", server.leads_to + self.path)
            self.end_headers()
        elif server.broken is None:
            self._send(json.dumps(body).encode())
        elif server.broken:
            self._send(server.broken)
        else:
            self.wfile.write(b"no HTTP at all\r\n\r\n")

    def _send(self, data: bytes) -> None:
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


@contextmanager
def running_issuer() -> Iterator[IssuerServer]:
    """An issuer that publishes two keys."""
    with IssuerServer() as server:
        server.keys = [published(RSA, "first"), published(CURVE, "curve")]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def token(server: IssuerServer, key: Any = RSA, *, kid: str = "first", algorithm: str = "RS256", **claims: Any) -> str:
    now = round(time.time())
    given = {"iss": server.url, "aud": "coatcheck", "sub": "user-1234", "org": "acme", "exp": now + 300} | claims
    return jwt.encode({k: v for k, v in given.items() if v is not None}, key, algorithm=algorithm, headers={"kid": kid})


def unsigned(text: str, algorithm: str, signature: str = "") -> str:
    """A token with the claims of another one and what its header says of its signature."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "first"}).encode()).rstrip(b"=").decode()
    return f"{header}.{text.split('.')[1]}.{signature}"
