"""Downloads from a server that breaks off, forgets and changes its mind."""

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from coatcheck_client import CutShort, NoFile, OtherSize
from tests.client.server import FakeTime, ScriptedServer, client_of, send
from tests.client.storage import FILE, JOB, Storage, download, left_in


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
