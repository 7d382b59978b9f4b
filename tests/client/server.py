"""A real HTTP server on the loopback interface that answers as told, badly if told so; and a clock for its client."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, TypeAlias

from coatcheck_client.client import Coatcheck
from coatcheck_client.patience import Clock

NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)

Reply: TypeAlias = tuple[int, dict[str, str], Any] | Callable[[BaseHTTPRequestHandler], None]
"""Status, headers and content (JSON, or bytes as they are); or what to do with the connection."""


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Answers the requests in turn, the last answer again and again, and remembers what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Asked] = []
        self.replies = list(replies)

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    @contextmanager
    def running(self) -> Iterator[str]:
        script = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                names = {name.lower(): value for name, value in self.headers.items()}
                script.asked.append(Asked(self.command, self.path, names, body))
                reply = script.replies[0] if len(script.replies) == 1 else script.replies.pop(0)
                if callable(reply):
                    reply(self)
                else:
                    send(self, *reply)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815 (the names that the server looks for)

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


def send(
    to: BaseHTTPRequestHandler, status: int, headers: dict[str, str], content: Any, length: int | None = -1
) -> None:
    """An answer; `length` is what it says of its own, None to say nothing."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    to.send_response(status)
    for name, value in headers.items():
        to.send_header(name, value)
    if length is not None:
        to.send_header("Content-Length", str(len(data) if length < 0 else length))
    to.end_headers()
    to.wfile.write(data)


def drop(to: BaseHTTPRequestHandler) -> None:
    """The request was taken, and the connection breaks before the answer."""
    to.close_connection = True


@dataclass
class FakeTime:
    """Time that passes only by sleeping, and chance that is always the same: pauses are values."""

    slept: list[float] = field(default_factory=list)
    chance: float = 1.0

    @property
    def clock(self) -> Clock:
        return Clock(
            now=lambda: NOW + timedelta(seconds=sum(self.slept)),
            elapsed=lambda: sum(self.slept),
            sleep=self.slept.append,
            chance=lambda: self.chance,
        )


@contextmanager
def client_of(server: ScriptedServer, time: FakeTime | None = None, **more: Any) -> Iterator[Coatcheck]:
    """A client of the running server that never really sleeps."""
    with server.running() as url, Coatcheck(url, "cc_secret", clock=(time or FakeTime()).clock, **more) as client:
        yield client


def document(state: str = "queued", **more: Any) -> dict[str, Any]:
    """A status document."""
    return {
        "id": "j_1",
        "kind": "probe",
        "state": state,
        "lane": "interactive",
        "attempt": 1,
        "failures": 0,
        "max_failures": 5,
        "progress": {"done": 0},
        "created_at": "2026-11-10T12:00:00.000Z",
        "requested_by": "key …wxyz of bharat-bazaar",
        "updated_at": "2026-11-10T12:00:00.000Z",
        "expires_at": "2026-12-10T12:00:00Z",
        "links": {"self": "/v1/jobs/j_1"},
        **more,
    }
