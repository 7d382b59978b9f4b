"""One request of the client, against a real HTTP server."""

import pytest

from coatcheck_client.api import Api, Unsendable
from coatcheck_client.refusal import FieldError, Refused
from coatcheck_client.trouble import ExitCode, Unreachable
from tests.client.server import ScriptedServer, drop


def refusal(status: int, headers: dict[str, str], content: object) -> Refused:
    with ScriptedServer((status, headers, content)).running() as url, Api(url, "k") as api:
        return Refused(api.request("GET", "/v1/jobs/j_1"))


def test_a_problem_is_told_with_every_bad_field_and_has_attributes() -> None:
    refused = refusal(
        400,
        {},
        {
            "type": "urn:coatcheck:problem:bad-request",
            "title": "The request is not valid",
            "status": 400,
            "detail": "the args do not fit",
            "errors": [{"pointer": "/args/period", "detail": "bad month"}],
            "request_id": "r-1",
        },
    )
    assert str(refused) == "400 The request is not valid\n/args/period: bad month"
    assert (refused.status, refused.type) == (400, "urn:coatcheck:problem:bad-request")
    assert (refused.title, refused.detail) == ("The request is not valid", "the args do not fit")
    assert refused.errors == (FieldError(pointer="/args/period", detail="bad month"),)
    assert refused.request_id == "r-1"
    assert refused.exit_code is ExitCode.REFUSED


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"title": 7}', b'{"errors": "x"}', b"\xff", b"[" * 100_000])
def test_an_error_that_is_no_problem_document_is_still_told(body: bytes) -> None:
    refused = refusal(502, {"Coatcheck-Request-Id": "r-2"}, body)
    assert str(refused) == "502 no reason given"
    assert refused.request_id == "r-2"


def test_the_gateways_own_refusals_have_a_reason_too() -> None:
    assert str(refusal(401, {}, {"message": "Unauthorized"})) == "401 Unauthorized"


def test_no_answer_is_told_as_such_and_names_no_secret_link() -> None:
    with (
        Api("http://127.0.0.1:1", "k") as api,
        pytest.raises(Unreachable, match=r"no answer from http://127\.0\.0\.1:1:"),
    ):
        api.request("GET", "/v1/kinds")
    with ScriptedServer(drop).running() as url, Api(url, "k") as api, pytest.raises(Unreachable) as unreachable:
        api.request("GET", f"{url}/v1/results/secret")
    assert "secret" not in str(unreachable.value)
    assert unreachable.value.exit_code is ExitCode.NOT_RUNNING


def test_credentials_go_to_the_api_and_to_no_other_server() -> None:
    server = ScriptedServer((200, {}, b"file"))
    with server.running() as url, server.running() as elsewhere, Api(url, "cc_secret\n", tenant="shop") as api:
        api.request("GET", f"{url}/v1/kinds")
        api.request("GET", "/v1/kinds")
        api.request("GET", f"{elsewhere}/v1/kinds")
    assert [each.headers.get("authorization") for each in server.asked] == ["Bearer cc_secret"] * 2 + [None]
    assert [each.headers.get("coatcheck-tenant") for each in server.asked] == ["shop", "shop", None]


@pytest.mark.parametrize(
    "address",
    [
        "http://api.example/x",  # not encrypted
        "https://api.example:8443/x",
        "https://api.example.evil/x",
        "https://evil/https://api.example/x",
        "https://api.example@evil/x",
        "https://evil\\@api.example/x",  # parsers disagree about the host: the one that connects decides
        "https://api.example:x/x",
    ],
)
def test_what_only_looks_like_the_api_is_another_server(address: str) -> None:
    with Api("https://api.example") as api:
        assert not api.serves(address)


@pytest.mark.parametrize("address", ["https://api.example/x", "https://API.example:443/y?z", "https://api.example"])
def test_the_api_is_known_in_any_spelling(address: str) -> None:
    with Api("https://api.example/") as api:
        assert api.serves(address)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"x": [-float("inf")]}])
def test_a_number_that_json_does_not_have_is_not_sent_as_null(value: object) -> None:
    server = ScriptedServer((200, {}, {}))
    with server.running() as url, Api(url, "k") as api, pytest.raises(Unsendable, match="cannot be JSON"):
        api.request("POST", "/v1/jobs", json=value)
    assert server.asked == []


@pytest.mark.parametrize("key", ["two words", "two\nlines", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_told_without_showing_it(key: str) -> None:
    with pytest.raises(Unsendable) as unsendable:
        Api("https://api.example", key)
    assert key not in str(unsendable.value)
