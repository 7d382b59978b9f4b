"""Downloads from a server that breaks off, forgets, changes its mind and leads astray."""

import gzip
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from coatcheck_client import Coatcheck, CutShort, NoFile, OtherSize, Refused
from coatcheck_client.job import job_of
from tests.client.server import FakeTime, Reply, ScriptedServer, client_of, document, drop, send

FILE = gzip.compress(bytes(range(256)) * 40, compresslevel=0)
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


def test_a_file_arrives_as_it_is_stored_and_not_unpacked(tmp_path: Path) -> None:
    assert download(Storage(), tmp_path / "new" / "report.csv.gz") == len(FILE)
    assert (tmp_path / "new" / "report.csv.gz").read_bytes() == FILE
    assert left_in(tmp_path / "new") == ["report.csv.gz"]


def test_a_broken_transfer_goes_on_where_it_broke_off(tmp_path: Path) -> None:
    storage, time = Storage(cuts=[100, 4000, 0]), FakeTime()
    download(storage, tmp_path / "report", time)
    assert (tmp_path / "report").read_bytes() == FILE
    assert storage.ranges == [None, "bytes=100-", "bytes=4100-", "bytes=4100-"]
    assert time.slept == [0.5, 0.5, 1.0]


def test_a_server_that_ignores_ranges_is_asked_for_all_of_it(tmp_path: Path) -> None:
    storage = Storage(cuts=[100, 4000], ignores_ranges=True)
    download(storage, tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == FILE


@pytest.mark.parametrize("ignores_conditions", [False, True])
@pytest.mark.parametrize("other", [FILE[::-1], FILE[:50]])
def test_a_file_that_changed_meanwhile_is_begun_again(
    tmp_path: Path, other: bytes, *, ignores_conditions: bool
) -> None:
    """No file is pieced together from two."""
    storage = Storage(ignores_conditions=ignores_conditions)

    def change(to: BaseHTTPRequestHandler) -> None:
        storage(to)
        storage.data, storage.tag, storage.cuts = other, '"v2"', []

    storage.cuts = [100]
    download(change, tmp_path / "report", size=None)
    assert (tmp_path / "report").read_bytes() == other


def test_without_an_entity_tag_nothing_is_pieced_together(tmp_path: Path) -> None:
    storage = Storage(cuts=[100], tag='W/"weak"')
    download(storage, tmp_path / "report")
    assert storage.ranges == [None, None]


def test_another_range_than_was_asked_for_is_not_put_in_its_place(tmp_path: Path) -> None:
    """It has the right length."""
    download(Storage(cuts=[100], shift=-100, stingy=len(FILE) - 100), tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == FILE


def test_a_server_that_gives_little_at_a_time_gives_all_in_the_end(tmp_path: Path) -> None:
    download(Storage(cuts=[100], stingy=3000), tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == FILE


@pytest.mark.parametrize(
    "storage",
    [
        Storage(cuts=[100] + [0] * 99),
        Storage(cuts=[100] * 99, ignores_ranges=True),
        Storage(cuts=[100], stingy=0),
    ],
    ids=["cut at once", "cut at the same place", "nothing given"],
)
def test_a_transfer_that_never_gets_further_is_an_error_and_no_file(tmp_path: Path, storage: Storage) -> None:
    time = FakeTime()
    with pytest.raises(CutShort) as cut:
        download(storage, tmp_path / "report", time)
    assert (cut.value.received, cut.value.total) == (100, len(FILE))
    assert sum(time.slept) < 2 * 5
    assert left_in(tmp_path) == []


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(b"before")
    with pytest.raises(CutShort):
        download(Storage(cuts=[100] + [0] * 99), tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == b"before"
    assert left_in(tmp_path) == ["report"]
    download(Storage(), tmp_path / "report")
    assert (tmp_path / "report").read_bytes() == FILE


def test_a_whole_file_of_another_size_than_the_jobs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OtherSize) as other:
        download(Storage(data=b"short"), tmp_path / "report")
    assert (other.value.received, other.value.expected) == (5, len(FILE))
    assert left_in(tmp_path) == []


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    assert download(Storage(data=b""), tmp_path / "report", size=0) == 0
    assert (tmp_path / "report").read_bytes() == b""


def test_an_answer_without_a_length_could_be_cut_unseen(tmp_path: Path) -> None:
    with pytest.raises(NoFile):
        download(lambda to: send(to, 200, {}, FILE, length=None), tmp_path / "report")


@pytest.mark.parametrize("ending", [b"0\r\n\r\n", b""])
def test_chunks_say_themselves_which_is_the_last(tmp_path: Path, ending: bytes) -> None:
    chunked: dict[str, str] = {"Transfer-Encoding": "chunked"}

    def in_chunks(to: BaseHTTPRequestHandler) -> None:
        to.protocol_version = "HTTP/1.1"
        send(to, 200, chunked, b"5\r\nhello\r\n" + ending, length=None)
        to.close_connection = True

    if ending:
        assert download(in_chunks, tmp_path / "report", size=None) == 5
    else:
        with pytest.raises(CutShort):
            download(in_chunks, tmp_path / "report", size=None)


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


def test_progress_is_told_also_after_a_break(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with client_of(ScriptedServer(Storage(cuts=[100]))) as client:
        client.download(JOB, tmp_path / "report", show=lambda *each: told.append(each))
    assert told[0] == (100, len(FILE))
    assert told[-1] == (len(FILE), len(FILE))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    server = ScriptedServer(Storage())
    with client_of(server) as client, pytest.raises(IsADirectoryError):
        client.download(JOB, tmp_path)
    assert server.asked == []
