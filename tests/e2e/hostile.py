"""Requests that no client of good will sends, to the byte, and what each is answered with."""

import base64
import gzip
from collections.abc import Iterator
from dataclasses import dataclass

JSON = (b"Content-Type", b"application/json")
ODD_ID = "j_00000000000000000000000000"
GOOD = b'{"kind":"probe","args":{}}'

SUBMITS = {
    "/v1/jobs": b'{"kind":"probe","args":{"seconds":%s}}',
    "/v1/reports/gst-export": b'{"seller_id":"48811","period":%s}',
}
"""Where jobs are handed in, and a body that would do if its value did."""

VALUES = {
    "NaN": b"NaN",
    "an infinity": b"-Infinity",
    "a number beyond a double": b"1e999",
    "5,000 digits": b"9" * 5000,
    "nesting of 5,000": b"[" * 5000 + b"]" * 5000,
    "nesting that is never closed": b'{"a":' * 5000,
    "half a surrogate pair, escaped": b'"\\ud800"',
    "half a surrogate pair, encoded": b'"\xed\xa0\x80"',
    "NUL, escaped": b'"2026-10\\u0000"',
    "NUL": b'"2026-10\x00"',
    "a control character": b'"2026-10\x07"',
    "a line feed at the end": b'"2026-10\\n"',
    "a name twice": b'{"a":1,"\\u0061":2}',
    "a value of another type": b"[[]]",
    "a comment": b"0/*1*/",
}
BODIES = {
    "nothing": b"",
    "no JSON": b"seconds=1",
    "two values": GOOD + GOOD,
    "an array": b"[" + GOOD + b"]",
    "a name twice": b'{"kind":"probe","\\u006bind":"probe"}',
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 without a mark": GOOD.decode().encode("utf-16-le"),
    "base 64": base64.b64encode(GOOD),
    "gzip": gzip.compress(GOOD, mtime=0),
    "an overlong slash": b'{"kind":"probe\xc0\xaf"}',
    "a field of another version": b'{"kind":"probe","__proto__":{},"tenant":"hill-spices"}',
}
LARGE = {
    "300 KB of body": b'{"kind":"probe"' + b" " * 300 * 1024 + b"}",
    "9 MB of body": b'{"kind":"probe","args":{"seconds":"' + b"9" * 9 * 1024 * 1024 + b'"}}',
}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A request to the byte. `status`: what the answer must be. `authorized`: with the tenant's key."""

    target: str
    status: int
    method: str = "GET"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""
    authorized: bool = True
    name: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.target[:60]} {self.name} {self.headers and self.headers[-1][1][:40]!r}"


def bodies() -> Iterator[Sent]:
    for target, body in SUBMITS.items():
        for name, value in VALUES.items():
            yield Sent(method="POST", target=target, status=400, headers=(JSON,), body=body % value, name=name)
        for name, whole in BODIES.items():
            yield Sent(method="POST", target=target, status=400, headers=(JSON,), body=whole, name=name)
        for name, whole in LARGE.items():
            yield Sent(method="POST", target=target, status=413, headers=(JSON,), body=whole, name=name)
    args = b"9" * 66 * 1024
    labels = b'{"kind":"probe","labels":{"team":"\\u001b[31m"}}'
    yield Sent(method="POST", target="/v1/jobs", status=400, headers=(JSON,), body=labels, name="an escape sequence")
    yield Sent(
        method="POST", target="/v1/jobs", status=400, headers=(JSON,), body=SUBMITS["/v1/jobs"] % (b'"%s"' % args)
    )


def headers() -> Iterator[Sent]:
    """Of a request whose body is good, and which only its headers spoil."""

    def post(status: int, *given: tuple[bytes, bytes], authorized: bool = True) -> Sent:
        return Sent(method="POST", target="/v1/jobs", status=status, headers=given, body=GOOD, authorized=authorized)

    yield post(415)
    for media_type in (
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
        b"application/jsonp",
        b"application/json, text/plain",
        b"application/json\xff",
        b";",
        b"application/problem+json",
    ):
        yield post(415, (b"Content-Type", media_type))
    for encoding in (b"gzip", b"br", b"identity, gzip", b"x"):
        yield post(415, JSON, (b"Content-Encoding", encoding))
    yield post(415, JSON, JSON)
    yield post(415, JSON, (b"content-type", b"text/plain"))
    for key in (b"k" * 2048, b"", b" ", b"a b", "ключ".encode(), b"\xff\xfe", b"a\tb"):
        yield post(400, JSON, (b"Idempotency-Key", key))
    yield post(400, JSON, (b"Idempotency-Key", b"one"), (b"Idempotency-Key", b"two"))
    for tenant in (b"hill-spices", b"", b"../x", "भारत".encode(), b"x" * 2048):
        yield post(403, JSON, (b"Coatcheck-Tenant", tenant))
    for credential in (
        b"Bearer",
        b"Bearer cc_short",
        b"Basic YTpi",
        b"Negotiate x",
        b"Bearer cc_%s" % (b"x" * 43),
        b"Bearer cc_%s" % (b"x" * 7000),
        b"Bearer eyJhbGciOiJub25lIn0.e30.",
        b"Bearer \xff\xfe",
        b"cc_%s" % (b"x" * 43),
        b"AWS4-HMAC-SHA256 Credential=x/20261110/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0",
    ):
        yield post(401, JSON, (b"Authorization", credential), authorized=False)
    # a second credential beside a good one is none; nobody is let in by the first or the last of two
    yield post(401, JSON, (b"Authorization", b"Bearer cc_%s" % (b"x" * 43)))


def paths() -> Iterator[Sent]:
    for target in (
        "/v1/jobs/../x",
        "/v1/jobs/../health",
        "/v1/jobs/./" + ODD_ID,
        "/v1/jobs/%2e%2e",
        "/v1/jobs/%2e%2e%2fhealth",
        "/v1/jobs/%252e%252e",
        "/v1/jobs/..%5c..%5chealth",
        "//v1//jobs",
        "/v1/jobs/",
        "/V1/Jobs",
        "/v1/jobs/" + ODD_ID + "/",
        "/v1/jobs/" + ODD_ID + "%2fresult",
        "/v1/jobs/" + ODD_ID + "%00",
        "/v1/jobs/%00",
        "/v1/jobs/%0d%0aSet-Cookie:%20a=b",
        "/v1/jobs/%ff%fe",
        "/v1/jobs/%c0%ae%c0%ae",
        "/v1/jobs/%zz",
        "/v1/jobs/{id}",
        "/v1/jobs/" + "x" * 7000,
        "/v1/jobs/" + ODD_ID + ";admin=true",
        "/v1/jobs/" + ODD_ID + "/result/../../" + ODD_ID,
        "/v1/jobs/" + ODD_ID + "/wait%00",
        "/v1/jobs/load",
        "/v1/jobs/%7B%22S%22%3A%22x%22%7D",
        "/v1",
        "/",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/reports/..%2fjobs",
        "/openapi.json/",
        "/.well-known/openid-configuration",
    ):
        yield Sent(target=target, status=404)
    for target in ("/v1/results/x", "/v1/results/%2e%2e", "/v1/results/" + ODD_ID + ".99999999999." + "A" * 43):
        yield Sent(target=target, status=403, authorized=False)
    for query in (
        "limit=1&limit=2",
        "limit=%00",
        "state[]=queued",
        "state=queued%00",
        "cursor=%ff",
        "label=%F0",
        "%00=1",
    ):
        yield Sent(target=f"/v1/jobs?{query}", status=400)
    yield Sent(target=f"/v1/jobs/{ODD_ID}/wait?seconds=1e1", status=400)
    yield Sent(target=f"/v1/jobs/{ODD_ID}/wait?seconds=1&seconds=1", status=400)


def methods() -> Iterator[Sent]:
    for method, target in (
        ("PUT", "/v1/jobs"),
        ("PATCH", "/v1/jobs"),
        ("DELETE", "/v1/jobs"),
        ("POST", f"/v1/jobs/{ODD_ID}"),
        ("PUT", f"/v1/jobs/{ODD_ID}"),
        ("DELETE", f"/v1/jobs/{ODD_ID}/result"),
        ("POST", f"/v1/jobs/{ODD_ID}/wait"),
        ("GET", "/v1/reports/gst-export"),
        ("POST", "/v1/health"),
        ("POST", "/openapi.json"),
        ("PROPFIND", "/v1/jobs"),
    ):
        yield Sent(method=method, target=target, status=405)
