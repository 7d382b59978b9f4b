"""The HTTP API of Coatcheck as a client sees it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode, urljoin

import msgspec
import urllib3

from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

Document = dict[str, Any]
"""A status document, see the HTTP contract."""

FINAL_STATES = frozenset({"succeeded", "failed", "cancelled"})

_LONGEST_WAIT_SECONDS = 60.0
_MOST_PER_PAGE = 100
_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?')


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP answer; the names of `headers` are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def next(self) -> str | None:
        """Where the next page of a list is, as the Link header names it (RFC 8288)."""
        found = _NEXT.search(self.headers.get("link", ""))
        return found.group(1) if found else None

    @property
    def document(self) -> Document:
        """The body as a JSON object, an empty one if it is something else."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except msgspec.DecodeError:
            return {}


class Refused(Trouble):
    """The API answered with a problem (RFC 9457), or the gateway in front of it with an error of its own."""

    exit_code = ExitCode.REFUSED

    def __init__(self, answer: Answer) -> None:
        problem = answer.document
        title = problem.get("title") or problem.get("message") or "no reason given"
        # with every bad field named, the summary of them says nothing more
        details = [f"{error.get('pointer', '')}: {error.get('detail', '')}" for error in problem.get("errors", [])]
        lines = [f"{answer.status} {title}", *(details or filter(None, [problem.get("detail")]))]
        super().__init__("\n".join(lines), hint=_hint(answer.status))
        self.answer = answer


def _hint(status: int) -> str | None:
    match status:
        case 401 | 403:
            return "give an API key: --api-key, COATCHECK_API_KEY, or --tenant on the local stack"
        case _:
            return None


class Api:
    """Requests with one API key. Redirects are not followed: a 303 is an answer."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=5.0, read=35.0), maxsize=32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.clear()

    def submit(self, kind: str, args: Any, *, key: str | None = None, lane: str | None = None) -> Answer:
        """Hand in a job. Raises Refused unless it was accepted (202)."""
        request = {"kind": kind, "args": args, **({"lane": lane} if lane else {})}
        headers = {} if key is None else {"Idempotency-Key": key}
        return _accepted(self.request("POST", "/v1/jobs", json=request, headers=headers))

    def status(self, job_id: str) -> Answer:
        """The status document, also of a job that has a result. Raises Refused."""
        return _accepted(self.request("GET", f"/v1/jobs/{job_id}?redirect=false"))

    def jobs(
        self, *, states: Iterable[str] = (), kinds: Iterable[str] = (), labels: Iterable[str] = (), most: int = 20
    ) -> Iterator[Document]:
        """The tenant's jobs, newest first, each page fetched when it is needed. A job needs all of the labels.

        A page may be short, or empty, while a next one is named. Raises Refused.
        """
        filters = [("state", states), ("kind", kinds), ("label", labels)]
        query = [(name, value) for name, values in filters for value in values]
        page: str | None = f"/v1/jobs?{urlencode([*query, ('limit', min(most, _MOST_PER_PAGE))])}"
        while page is not None and most > 0:
            answer = _accepted(self.request("GET", page))
            items = answer.document.get("items", [])[:most]
            yield from items
            most -= len(items)
            page = None if answer.next is None else urljoin(self.url + "/", answer.next)

    def request(
        self, method: str, path: str, *, json: Any = None, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Answer:
        """Any request; `path` may also be an absolute link that an answer gave. Raises Unreachable.

        The API key goes to the API alone, never to where a link may lead.
        """
        ours = not path.startswith(("http://", "https://")) or path.startswith(self.url + "/")
        sent = {**(self._headers if ours else {}), **headers}
        if json is not None:
            body, sent = msgspec.json.encode(json), {"Content-Type": "application/json", **sent}
        url = path if "://" in path else self.url + path
        try:
            answer = self._http.request(method, url, body=body, headers=sent, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise Unreachable(f"no answer from {self.url}: {error}", hint="is it up? `coatcheck status`") from error
        names = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(status=answer.status, headers=names, body=answer.data)

    def download(self, link: str, file: Path) -> int:
        """Save what a link leads to, without keeping it in memory; its size. Raises Refused, Unreachable."""
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            answer = self._http.request("GET", link, redirect=False, preload_content=False)
            with file.open("wb") as output:
                for piece in answer.stream(1 << 20, decode_content=False):
                    output.write(piece)
        except urllib3.exceptions.HTTPError as error:
            raise Unreachable(f"no answer from {link}: {error}") from error
        if answer.status != 200:
            raise Refused(Answer(status=answer.status, headers={}, body=file.read_bytes()))
        return file.stat().st_size


def _accepted(answer: Answer) -> Answer:
    if answer.status >= 300:
        raise Refused(answer)
    return answer


def wait_seconds(answer: Answer, *, default: float, now: datetime) -> float:
    """How long to wait before asking again: what Retry-After says, in seconds or as a date, within bounds."""
    text = answer.headers.get("retry-after", "").strip()
    try:
        seconds = float(text) if not text.endswith("GMT") else (parsedate_to_datetime(text) - now).total_seconds()
    except ValueError:
        return default
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS) if seconds == seconds else default  # noqa: PLR0124 (a NaN)
