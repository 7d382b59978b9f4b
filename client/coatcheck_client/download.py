"""Downloads: over as many connections as it takes, and never a short file."""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias
from urllib.parse import urljoin

import urllib3

from coatcheck_client.api import Api
from coatcheck_client.patience import Patience
from coatcheck_client.refusal import Refused
from coatcheck_client.trouble import Trouble, Unreachable

Show: TypeAlias = Callable[[int, int | None], None]
"""Is told how many bytes have come, and of how many if that is known."""

_CHUNK_BYTES = 1 << 20
_MOST_REFUSAL_BYTES = 1 << 16
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_EXPIRED = frozenset({400, 403})
"""What S3 says of a link whose time, or whose signer's session, is over."""

_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class CutShort(Unreachable):
    """The transfer broke off and could not be resumed. `received` of `total` bytes came; None if nobody said."""

    def __init__(self, received: int, total: int | None, why: object) -> None:
        of_all = "" if total is None else f" of {total:,}"
        super().__init__(f"the transfer broke off after {received:,}{of_all} bytes: {why}")
        self.received = received
        self.total = total


class OtherSize(Trouble):
    """The file came whole, but it is not what the job left."""

    def __init__(self, received: int, expected: int) -> None:
        super().__init__(f"the file has {received:,} bytes, but the job's result {expected:,}")
        self.received = received
        self.expected = expected


class NoFile(Trouble):
    """What the link leads to cannot be downloaded."""


class Download:
    """One download: from a path of the API, or a link, into a file that is open for writing.

    Every connection goes the whole way from the start, so that an expired link is replaced by a new one. `size` is what
    the job says, None if no job is known.
    """

    def __init__(
        self, api: Api, start: str, output: BinaryIO, *, size: int | None, patience: Patience, show: Show
    ) -> None:
        self._api = api
        self._start = api.address(start)
        self._output = output
        self._size = size
        self._patience = patience
        self._show = show
        self._received = self._most_received = 0
        self._total: int | None = None
        self._tag: str | None = None
        self._renewed = False

    def run(self) -> int:
        """The file's size in bytes. Raises Refused, Unreachable (CutShort if a part came), OtherSize, NoFile."""
        while self._received != self._total:
            try:
                self._copy()
            except CutShort as error:
                self._patience.bear(error)
            except Unreachable as error:
                self._patience.bear(CutShort(self._received, self._total, error) if self._received else error)
            except Refused as refused:
                self._patience.bear(refused)
        if self._size is not None and self._size != self._received:
            raise OtherSize(self._received, self._size)
        return self._received

    def _copy(self) -> None:
        """What one connection brings. Without an entity tag there is no telling whether the file is still the same."""
        resumed = self._received > 0 and self._tag is not None
        headers = {"Range": f"bytes={self._received}-", "If-Range": self._tag or ""} if resumed else {}
        with self._response(headers) as (response, address):
            self._place(response, address)
            for piece in response.stream(_CHUNK_BYTES, decode_content=False):
                self._output.write(piece)
                self._note(len(piece))
        if self._total is None:
            self._total = self._received  # in chunks, and the last one came
        if self._received != self._total:
            raise CutShort(self._received, self._total, "the answer ended")

    @contextmanager
    def _response(self, headers: dict[str, str]) -> Iterator[tuple[urllib3.BaseHTTPResponse, str]]:
        """What the redirects lead to, and where. Once they have left the API, they get no credentials any more."""
        address, known = self._start, True
        for _ in range(_MOST_REDIRECTS + 1):
            known = known and self._api.serves(address)
            with self._api.opened("GET", address, headers=headers, known=known) as response:
                if response.status not in _REDIRECTS:
                    yield response, address
                    return
                address = urljoin(address, response.headers.get("location", ""))
        raise NoFile(f"more than {_MOST_REDIRECTS} redirects")

    def _place(self, response: urllib3.BaseHTTPResponse, address: str) -> None:
        """Get ready for what comes: behind what is there, or all of it once more."""
        tag = response.headers.get("etag", "")
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        match response.status:
            case 200:
                self._restart(tag if tag.startswith('"') else None, _length(response))
            case 206 if found and (int(found[1]), tag) == (self._received, self._tag):
                self._total = int(found[2])
            case 206 | 416:
                self._restart(None, None)
                raise CutShort(0, None, "the file has changed meanwhile")
            case _:
                raise self._refusal(response, address)

    def _restart(self, tag: str | None, total: int | None) -> None:
        self._output.seek(0)
        self._output.truncate()
        self._received, self._tag, self._total = 0, tag, total

    def _note(self, received: int) -> None:
        """Trouble is over once there is more than ever before: a server that always stops at one place is not borne."""
        self._received += received
        if self._received > self._most_received:
            self._most_received = self._received
            self._renewed = False
            self._patience.renew()
        self._show(self._received, self._total)

    def _refusal(self, response: urllib3.BaseHTTPResponse, address: str) -> Refused:
        """A link that has expired is asked for anew at the API, once."""
        answer = self._api.answer(response, response.read(_MOST_REFUSAL_BYTES))
        behind = self._api.serves(self._start) and not self._api.serves(address)
        expired = behind and answer.status in _EXPIRED and not self._renewed
        self._renewed = self._renewed or expired
        return Refused(answer, passes=expired)


def _length(response: urllib3.BaseHTTPResponse) -> int | None:
    """The body's length; None if it comes in chunks, which say themselves which one is the last. Raises NoFile."""
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        return None
    length = response.headers.get("content-length", "")
    if not length.isdecimal():
        raise NoFile("the server does not say how long the file is: nobody could tell a part from the whole")
    return int(length)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside that one, which takes its place in the end unless something goes wrong."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name the file")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as output:
            yield output
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
