"""The way to a file: redirects, links that expire, and whose credentials go where."""

from pathlib import Path

import pytest

from coatcheck_client import Coatcheck, NoFile, Refused
from tests.client.server import FakeTime, Reply, ScriptedServer, client_of, drop
from tests.client.storage import FILE, JOB, RESULT, Storage, left_in


def test_no_redirect_takes_the_credentials_to_another_server_or_back_from_there(tmp_path: Path) -> None:
    api, other = ScriptedServer(), ScriptedServer()
    with api.running() as api_url, other.running() as other_url, other.running() as third_url:
        api.replies = [
            (303, {"Location": f"{api_url}/v1/results/token"}, b""),
            (307, {"Location": f"{other_url}/a"}, b""),
            (200, {}, FILE),
        ]
        other.replies = [(302, {"Location": f"{third_url}/b"}, b""), (301, {"Location": f"{api_url}/c"}, b"")]
        with Coatcheck(api_url, "cc_secret", tenant="shop") as client:
            client.download(JOB, tmp_path / "report")
    assert [each.headers.get("authorization") for each in api.asked] == ["Bearer cc_secret", "Bearer cc_secret", None]
    assert api.paths == [RESULT, "/v1/results/token", "/c"]
    assert [{"authorization", "coatcheck-tenant"} & set(each.headers) for each in other.asked] == [set(), set()]


def test_redirects_without_an_end_are_not_followed_to_it(tmp_path: Path) -> None:
    with client_of(ScriptedServer((303, {"Location": "/v1/jobs/j_1"}, b""))) as client, pytest.raises(NoFile):
        client.download("j_1", tmp_path / "report")


@pytest.mark.parametrize("status", [403, 400])
def test_a_link_that_has_expired_is_asked_for_anew(tmp_path: Path, status: int) -> None:
    storage = Storage(cuts=[100, 100])
    expired: Reply = (status, {}, b"<Error>expired</Error>")
    server = ScriptedServer(storage, expired, storage, expired, storage)
    with server.running() as elsewhere:
        api = ScriptedServer(*[(303, {"Location": f"{elsewhere}/file?try={number}"}, b"") for number in range(5)])
        with client_of(api) as client:
            client.download("j_1", tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == FILE
    assert api.paths == [RESULT] * 5
    assert server.paths == [f"/file?try={number}" for number in range(5)]
    assert storage.ranges == [None, "bytes=100-", "bytes=200-"]


def test_a_storage_that_refuses_new_links_too_is_believed(tmp_path: Path) -> None:
    server = ScriptedServer((403, {}, b"<Error>denied</Error>"))
    with (
        server.running() as elsewhere,
        client_of(ScriptedServer((303, {"Location": elsewhere}, b""))) as client,
        pytest.raises(Refused) as refused,
    ):
        client.download("j_1", tmp_path / "report")
    assert (refused.value.status, refused.value.hint, len(server.asked)) == (403, None, 2)


@pytest.mark.parametrize("status", [401, 403, 404, 409, 410])
def test_what_the_api_refuses_is_refused_at_once(tmp_path: Path, status: int) -> None:
    server = ScriptedServer((status, {}, {"title": "No"}))
    with client_of(server) as client, pytest.raises(Refused) as refused:
        client.download("j_1", tmp_path / "report")
    assert (refused.value.status, refused.value.title, len(server.asked)) == (status, "No", 1)
    assert left_in(tmp_path) == []


def test_trouble_on_the_way_there_passes(tmp_path: Path) -> None:
    time = FakeTime()
    server = ScriptedServer(drop, (503, {"Retry-After": "3"}, {}), Storage())
    with client_of(server, time) as client:
        assert client.result("/v1/results/token") == FILE
    assert time.slept == [0.5, 4.0]


def test_a_link_of_the_storage_is_fetched_without_credentials() -> None:
    server = ScriptedServer(Storage())
    with server.running() as elsewhere, Coatcheck("https://api.example", "cc_secret") as client:
        assert client.result(f"{elsewhere}/file") == FILE
    assert "authorization" not in server.asked[0].headers
