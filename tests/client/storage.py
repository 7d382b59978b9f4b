"""A storage that breaks off, forgets and gives little, and a download from it."""

import gzip
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from coatcheck_client.job import job_of
from tests.client.server import FakeTime, Reply, ScriptedServer, client_of, document, send

FILE = gzip.compress(bytes(range(256)) * 40, compresslevel=0, mtime=0)
TAG = '"v1"'
JOB = job_of(document("succeeded", result={"bytes": len(FILE)}))
RESULT = "/v1/jobs/j_1/result"


@dataclass
class Storage:
    """Keeps a file as S3 does: with an entity tag, and parts of it for whoever asks."""

    data: bytes = FILE
    tag: str = TAG
    cuts: list[int] = field(default_factory=list)
    """After so many bytes the connection breaks, one after the other."""

    ignores_ranges: bool = False
    ignores_conditions: bool = False
    stingy: int | None = None
    """The most bytes of a range that it gives at once."""

    shift: int = 0
    """Ranges begin so many bytes behind what was asked for."""

    ranges: list[str | None] = field(default_factory=list)

    def __call__(self, to: BaseHTTPRequestHandler) -> None:
        asked = to.headers.get("Range")
        self.ranges.append(asked)
        same = self.ignores_conditions or to.headers.get("If-Range") == self.tag
        partial = asked is not None and same and not self.ignores_ranges
        start = int((asked or "").removeprefix("bytes=").rstrip("-")) + self.shift if partial else 0
        body = self.data[start:][: self.stingy if partial else None]
        cut = self.cuts.pop(0) if self.cuts else len(body)
        headers = {"ETag": self.tag, "Content-Type": "text/csv", "Content-Encoding": "gzip"}
        if partial and start >= len(self.data):
            send(to, 416, {"Content-Range": f"bytes */{len(self.data)}"}, b"")
            return
        if partial:
            headers["Content-Range"] = f"bytes {start}-{start + len(body) - 1}/{len(self.data)}"
        send(to, 206 if partial else 200, headers, body[:cut], length=len(body))


def download(storage: Reply, file: Path, time: FakeTime | None = None, *, size: int | None = len(FILE)) -> int:
    """Fetch the result of a job of that size over a redirect to another server."""
    job = job_of(document("succeeded", result={} if size is None else {"bytes": size}))
    with ScriptedServer(storage).running() as elsewhere:
        api = ScriptedServer((303, {"Location": f"{elsewhere}/bucket/file.csv.gz?X-Amz-Signature=1"}, b""))
        with client_of(api, time, patience=5) as client:
            return client.download(job, file)


def left_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]
