"""Hostile requests through the real gateway: each is a problem that says what to do, and nothing is written.

A thin pass over the whole list; what each check refuses in detail is tested where it stands. What the gateway answers
by itself is not the service's: there, only what AWS promises is looked at.
"""

import http.client
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from coatcheck_client.api import Answer
from tests.e2e.hostile import GOOD, JSON, ODD_ID, Sent, bodies, headers, methods, paths
from tests.e2e.live import LiveStack

KEYS = {"JobsTable": "id", "IdempotencyTable": "key"}


@pytest.mark.parametrize("requests", [bodies, headers, paths, methods], ids=lambda made: str(made.__name__))
def test_every_one_is_a_problem_that_says_what_to_do_and_nothing_is_written(
    live: LiveStack, requests: Callable[[], Iterator[Sent]]
) -> None:
    with nothing_written(live):
        assert faults(live, requests()) == []


def test_a_method_that_a_header_names_is_not_taken_for_the_requests_own(live: LiveStack) -> None:
    for name in (b"X-HTTP-Method-Override", b"X-HTTP-Method", b"X-Method-Override"):
        sent = Sent(target=f"/v1/jobs/{ODD_ID}", status=404, method="GET", headers=((name, b"DELETE"),))
        assert faults(live, [sent]) == []
        listed = answered(live, Sent(target="/v1/jobs", status=200, headers=((name, b"POST"), JSON), body=GOOD))
        assert (listed.status, set(listed.document)) == (200, {"items"})


def test_a_wrong_method_is_told_the_right_ones(live: LiveStack) -> None:
    answer = answered(live, Sent(method="PUT", target="/v1/jobs", status=405))
    assert answer.headers["allow"] == "GET, POST"


def test_head_has_the_status_and_headers_of_a_problem_and_no_body(live: LiveStack) -> None:
    answer = answered(live, Sent(method="HEAD", target=f"/v1/jobs/{ODD_ID}", status=404))
    assert (answer.status, answer.headers["content-type"], answer.body) == (404, "application/problem+json", b"")


def test_what_the_gateway_answers_by_itself_is_a_4xx_and_nothing_is_written(live: LiveStack) -> None:
    """Without a credential AWS answers 401; a body over 10 MB or broken framing never reaches a function there."""
    with nothing_written(live):
        none = Sent(method="POST", target="/v1/jobs", status=401, headers=(JSON,), body=GOOD, authorized=False)
        assert answered(live, none).status == 401
        empty = Sent(target="/v1/kinds", status=401, headers=((b"Authorization", b""),), authorized=False)
        assert answered(live, empty).status == 401
        huge = Sent(method="POST", target="/v1/jobs", status=413, headers=(JSON,), body=b" " * 11 * 1024 * 1024)
        assert answered(live, huge).status == 413
        twofold = Sent(
            method="POST", target="/v1/jobs", status=400, headers=(JSON, (b"Content-Length", b"3")), body=GOOD
        )
        assert answered(live, twofold).status == 400


def faults(live: LiveStack, requests: Iterable[Sent]) -> list[str]:
    """What is wrong with the answers."""
    found = []
    for sent in requests:
        answer = answered(live, sent)
        problem = answer.document
        right = (
            answer.status == sent.status == problem.get("status")
            and answer.headers.get("content-type") == "application/problem+json"
            and all(isinstance(problem.get(name), str) and problem[name] for name in ("type", "title", "detail"))
            and "coatcheck-request-id" in answer.headers
        )
        if not right:
            found.append(f"{sent}: not {sent.status} but {answer.status} {answer.body[:300]!r}")
    return found


def answered(live: LiveStack, sent: Sent) -> Answer:
    """The answer to a request that is sent as it is; clients' libraries are too polite for most of them."""
    address = urlsplit(live.stack.api_url)
    assert address.hostname is not None
    key = next(known.api_key for known in live.stack.tenants if known.tenant == "bharat-bazaar")
    own = [(b"Authorization", f"Bearer {key}".encode())] if sent.authorized else []
    given = [(b"Host", address.netloc.encode()), *own, *sent.headers, (b"Connection", b"close")]
    if sent.body or sent.method == "POST":
        given.append((b"Content-Length", str(len(sent.body)).encode()))
    lines = [f"{sent.method} {sent.target} HTTP/1.1".encode(), *(name + b": " + value for name, value in given)]
    with socket.create_connection((address.hostname, address.port or 80), timeout=30) as connection:
        connection.sendall(b"\r\n".join([*lines, b"", b""]) + sent.body)
        answer = http.client.HTTPResponse(connection, method=sent.method)
        answer.begin()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(status=answer.status, headers=names, body=answer.read())


@contextmanager
def nothing_written(live: LiveStack) -> Iterator[None]:
    """Neither a job nor a key is there afterwards that was not before."""
    live.supervise()  # it notes the load, in an item of its own
    before = {name: ids(live, name) for name in KEYS}
    yield
    for name, known in before.items():
        assert ids(live, name) - known == set()


def ids(live: LiveStack, output: str) -> set[str]:
    pages = live.deployment.dynamodb.get_paginator("scan").paginate(
        TableName=live.deployment.output(output),
        ProjectionExpression="#key",
        ExpressionAttributeNames={"#key": KEYS[output]},
        ConsistentRead=True,
    )
    return {item[KEYS[output]]["S"] for page in pages for item in page["Items"]}
