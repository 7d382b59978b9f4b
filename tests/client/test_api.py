"""The client's side of the HTTP contract, against a real HTTP server that answers as told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck_client.api import Answer, Api, Refused, wait_seconds
from coatcheck_client.display import Display, JsonLines, PlainLines
from coatcheck_client.trouble import ExitCode, Unreachable
from coatcheck_client.watching import watch

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)

Reply = tuple[int, dict[str, str], Any]


class ScriptedServer:
    """Answers the requests in turn, the last answer again and again, and remembers what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self._replies = list(replies)

    @contextmanager
    def running(self) -> Iterator[str]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                names = {name.lower(): value for name, value in self.headers.items()}
                script.asked.append((self.command, self.path, names, body))
                status, headers, content = script._replies[0] if len(script._replies) == 1 else script._replies.pop(0)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer  # noqa: N815 (the names that the server looks for)

            def log_message(self, *_: object) -> None:
                return None

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def document(state: str, **more: Any) -> dict[str, Any]:
    return {"id": "j_1", "kind": "probe", "state": state, "attempt": 1, "progress": {"done": 0}, **more}


def answer(headers: dict[str, str]) -> Answer:
    return Answer(status=200, headers=headers, body=b"")


def test_a_job_is_submitted_with_key_and_credential() -> None:
    server = ScriptedServer((202, {"Location": "/v1/jobs/j_1"}, document("queued")))
    with server.running() as url, Api(url, "cc_secret") as api:
        accepted = api.submit("probe", {"seconds": 1}, key="once", lane="bulk")
    assert accepted.headers["location"] == "/v1/jobs/j_1"
    [(method, path, headers, body)] = server.asked
    assert (method, path) == ("POST", "/v1/jobs")
    assert headers["authorization"] == "Bearer cc_secret"
    assert headers["idempotency-key"] == "once"
    assert json.loads(body) == {"kind": "probe", "args": {"seconds": 1}, "lane": "bulk"}


def test_a_problem_is_told_with_every_bad_field() -> None:
    problem = {"title": "The request is not valid", "errors": [{"pointer": "/args/period", "detail": "bad month"}]}
    with ScriptedServer((400, {}, problem)).running() as url, Api(url, "k") as api, pytest.raises(Refused) as refused:
        api.submit("gst-export", {})
    assert str(refused.value) == "400 The request is not valid\n/args/period: bad month"
    assert refused.value.exit_code is ExitCode.REFUSED


def test_an_error_that_is_not_json_is_still_told() -> None:
    with ScriptedServer((502, {}, b"<html>")).running() as url, Api(url, "k") as api, pytest.raises(Refused) as refused:
        api.status("j_1")
    assert str(refused.value) == "502 no reason given"


def test_the_api_key_never_leaves_for_another_server() -> None:
    storage = ScriptedServer((200, {}, b"file"))
    with storage.running() as storage_url, Api("http://127.0.0.1:1", "cc_secret") as api:
        assert api.request("GET", f"{storage_url}/bucket/file?X-Amz-Signature=1").body == b"file"
    assert "authorization" not in storage.asked[0][2]


def test_no_answer_is_not_a_traceback() -> None:
    with Api("http://127.0.0.1:1", "k") as api, pytest.raises(Unreachable) as unreachable:
        api.status("j_1")
    assert unreachable.value.exit_code is ExitCode.NOT_RUNNING


def test_a_gzip_download_stays_gzip(tmp_path: Path) -> None:
    reply = (200, {"Content-Encoding": "gzip", "Content-Type": "text/csv"}, b"\x1f\x8b not unpacked")
    with ScriptedServer(reply).running() as url, Api(url, "k") as api:
        size = api.download(f"{url}/file", tmp_path / "new" / "file.gz")
    assert (tmp_path / "new" / "file.gz").read_bytes() == b"\x1f\x8b not unpacked"
    assert size == 15


def test_an_expired_link_is_refused(tmp_path: Path) -> None:
    with ScriptedServer((403, {}, b"expired")).running() as url, Api(url, "k") as api, pytest.raises(Refused):
        api.download(f"{url}/file", tmp_path / "file.gz")


def test_watching_ends_with_the_job_and_survives_what_passes(capsys: pytest.CaptureFixture[str]) -> None:
    now = {"Retry-After": "0"}
    server = ScriptedServer(
        (200, now, document("running", progress={"done": 1, "total": 4, "percent": 25, "stage": "exporting"})),
        (503, now, {"title": "Try again"}),
        (429, now, {"title": "Too many"}),
        (200, now, document("retrying", attempt=2, reason="backing_off")),
        (200, {}, document("succeeded", attempt=2)),
    )
    with server.running() as url, Api(url, "k") as api:
        last = watch(api, "j_1", PlainLines())
    assert last["state"] == "succeeded"
    assert capsys.readouterr().out.splitlines() == [
        "j_1 running 25 % (1 of 4) exporting",
        "j_1 retrying backing_off, attempt 2",
        "j_1 succeeded attempt 2",
    ]


def test_watching_a_job_of_somebody_else_ends_at_once() -> None:
    server = ScriptedServer((404, {}, {"title": "There is no such thing"}))
    with server.running() as url, Api(url, "k") as api, pytest.raises(Refused):
        watch(api, "j_1", PlainLines())
    assert len(server.asked) == 1


@pytest.mark.parametrize("display", [PlainLines(), JsonLines()])
def test_nothing_is_printed_twice(display: Display, capsys: pytest.CaptureFixture[str]) -> None:
    with display:
        display.show(document("queued"))
        display.show(document("queued"))
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 60.0),
        ("7", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("-5", 0.0),
        ("Wed, 21 Oct 2026 07:28:09 GMT", 9.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2036 07:28:00 GMT", 60.0),
        ("99999999999", 60.0),
        ("", 2.0),
        ("soon", 2.0),
        ("nan", 2.0),
        ("not a date GMT", 2.0),
    ],
)
def test_retry_after_in_all_its_forms(text: str, seconds: float) -> None:
    assert wait_seconds(answer({"retry-after": text}), default=2.0, now=NOW) == seconds


def test_without_retry_after_the_own_plan_holds() -> None:
    assert wait_seconds(answer({}), default=2.0, now=NOW) == 2.0


@given(st.text())
def test_no_retry_after_makes_a_wait_that_is_negative_or_long(text: str) -> None:
    assert 0 <= wait_seconds(answer({"retry-after": text}), default=2.0, now=NOW) <= 60
