"""The HTTP API of Coatcheck, one request at a time."""

import json as standard_json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import msgspec
import urllib3
from urllib3.util import Url, parse_url

from coatcheck_client.patience import WALL_CLOCK, Clock, asked_seconds
from coatcheck_client.trouble import ExitCode, Trouble, Unreachable

Document = dict[str, Any]
"""A JSON object as it came."""

CONNECT_SECONDS = 5.0
READ_SECONDS = 35.0
"""Longer than the API's gateway takes to give up."""

_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?')
_MOST_CREDENTIAL = 8_192  # a token (JWT) is longer than an API key
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP answer; the names of `headers` are lower-case. `retry_after`: seconds to wait before asking again."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    retry_after: float | None = None

    @property
    def next(self) -> str | None:
        """Where the next page of a list is, as the Link header names it (RFC 8288)."""
        found = _NEXT.search(self.headers.get("link", ""))
        return found.group(1) if found else None

    @cached_property
    def document(self) -> Document:
        """The body as a JSON object, an empty one if it is something else."""
        try:
            return msgspec.json.decode(self.body, type=Document)
        except (msgspec.DecodeError, RecursionError):
            return {}


class Unsendable(Trouble, ValueError):
    """What no request can carry; nothing was sent."""

    exit_code = ExitCode.USAGE


class Api:
    """Requests with one API key, each sent once. Redirects are not followed: a 303 is an answer.

    `tenant`: for whom a key with the scope `act_as` acts. Credentials go to the API alone, never to where a link leads.
    Raises Unsendable.
    """

    def __init__(
        self, url: str, key: str | None = None, *, tenant: str | None = None, clock: Clock = WALL_CLOCK
    ) -> None:
        self.url = url.rstrip("/")
        self._clock = clock
        self._credentials = {
            **({"Authorization": f"Bearer {visible('a credential', key.strip(), _MOST_CREDENTIAL)}"} if key else {}),
            **({"Coatcheck-Tenant": visible("a tenant's name", tenant)} if tenant is not None else {}),
        }
        self._http = urllib3.PoolManager(retries=False, maxsize=32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.clear()

    def address(self, link: str) -> str:
        """A link that the API gave, as an absolute one."""
        return self.url + link if link.startswith("/") else link

    def serves(self, address: str) -> bool:
        """Whether that is the API's own server: scheme, host and port."""
        return _server(address) == _server(self.url)

    def request(
        self,
        method: str,
        link: str,
        *,
        json: Any = None,
        body: bytes | None = None,
        headers: Mapping[str, str] = {},
        timeout: float = READ_SECONDS,
    ) -> Answer:
        """Any request, to a path of the API or to a link that it gave. Raises Unreachable, Unsendable."""
        if json is not None:
            body, headers = _encoded(json), {"Content-Type": "application/json", **headers}
        with self.opened(method, link, body=body, headers=headers, timeout=timeout) as response:
            data = response.data
        return self.answer(response, data)

    @contextmanager
    def opened(
        self,
        method: str,
        link: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] = {},
        timeout: float = READ_SECONDS,
        known: bool = True,
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """An answer whose body is still to be read; nothing is unpacked. Not `known`: without credentials in any case.

        Raises Unreachable, also when the connection breaks while the body is read.
        """
        address = self.address(link)
        credentials = self._credentials if known and self.serves(address) else {}
        limits = urllib3.Timeout(connect=min(CONNECT_SECONDS, timeout), read=timeout)
        try:
            with closing(
                self._http.request(
                    method,
                    address,
                    body=body,
                    headers={"Accept-Encoding": "identity", **credentials, **headers},
                    timeout=limits,
                    redirect=False,
                    preload_content=False,
                    decode_content=False,
                )
            ) as response:
                yield response
        except urllib3.exceptions.HTTPError as error:
            # a link may be a secret: the server alone is named
            server = _server(address).url
            raise Unreachable(f"no answer from {server}: {error}", hint="is it up? `coatcheck status`") from error

    def answer(self, response: urllib3.BaseHTTPResponse, body: bytes) -> Answer:
        headers = {name.lower(): value for name, value in response.headers.items()}
        asked = asked_seconds(headers.get("retry-after", ""), self._clock.now())
        return Answer(status=response.status, headers=headers, body=body, retry_after=asked)


def visible(what: str, text: str, most: int = 255) -> str:
    """A text that a header can carry. Raises Unsendable."""
    if not _VISIBLE.fullmatch(text) or len(text) > most:
        raise Unsendable(f"{what} has 1 to {most:,} visible ASCII characters and no spaces")
    return text


def _encoded(value: Any) -> bytes:
    """JSON. msgspec would send null in place of a number that JSON does not have. Raises Unsendable."""
    try:
        return standard_json.dumps(msgspec.to_builtins(value), allow_nan=False).encode()
    except ValueError as error:
        raise Unsendable(f"this cannot be JSON: {error}") from error


def _server(address: str) -> Url:
    """Taken apart by the very parser that connects: two that disagree would send credentials elsewhere."""
    try:
        url = parse_url(address)
    except urllib3.exceptions.LocationParseError:
        return Url()
    return Url(scheme=url.scheme, host=url.host, port=url.port or _PORTS.get(url.scheme or ""))
