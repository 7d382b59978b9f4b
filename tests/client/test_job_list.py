"""Lists of jobs: pages are followed as far as they are wanted, and shown for people and for programs."""

import json
from io import StringIO
from typing import Any
from urllib.parse import parse_qsl

import pytest
from rich.console import Console

from coatcheck_client.cli import main
from coatcheck_client.job import job_of
from coatcheck_client.job_list import print_json, print_lines, print_table
from coatcheck_client.refusal import Refused
from tests.client.server import Reply, ScriptedServer, client_of, document, drop


def job(number: int, **more: Any) -> dict[str, Any]:
    return document(**{"id": f"j_{number}", "kind": "gst-export", **more})


def page(*numbers: int, further: str | None = None) -> Reply:
    links = {} if further is None else {"Link": f'<{further}>; rel="next"'}
    return 200, links, {"items": [job(number) for number in numbers]}


def test_pages_are_followed_to_their_end_also_past_an_empty_one() -> None:
    server = ScriptedServer(
        page(5, 4, further="/v1/jobs?cursor=a"), page(further="/v1/jobs?cursor=b&state=queued"), page(3)
    )
    with client_of(server) as client:
        found = list(client.jobs(states=["queued", "running"], labels={"team": "tax & co"}))
    assert [each.id for each in found] == ["j_5", "j_4", "j_3"]
    first, second, third = server.paths
    assert parse_qsl(first.partition("?")[2]) == [
        ("state", "queued"),
        ("state", "running"),
        ("label", "team:tax & co"),
        ("limit", "100"),
    ]
    assert (second, third) == ("/v1/jobs?cursor=a", "/v1/jobs?cursor=b&state=queued")
    assert all(each.headers["authorization"] == "Bearer cc_secret" for each in server.asked)


def test_a_page_that_is_asked_for_twice_is_shown_once() -> None:
    server = ScriptedServer(page(5, 4, further="/v1/jobs?cursor=a"), drop, (503, {}, {}), page(3))
    with client_of(server) as client:
        assert [each.id for each in client.jobs()] == ["j_5", "j_4", "j_3"]


def test_no_more_is_fetched_than_wanted() -> None:
    server = ScriptedServer(page(5, 4, further="/v1/jobs?cursor=a"), page(3, 2, further="/v1/jobs?cursor=b"))
    with client_of(server) as client:
        assert [each.id for each in client.jobs(most=3)] == ["j_5", "j_4", "j_3"]
    assert len(server.asked) == 2
    with client_of(ScriptedServer(page(1))) as client:
        assert len(list(client.jobs(most=5000))) == 1


def test_a_page_elsewhere_does_not_get_the_key() -> None:
    elsewhere = ScriptedServer(page(1))
    with elsewhere.running() as other:
        server = ScriptedServer(page(2, further=f"{other}/v1/jobs"))
        with client_of(server) as client:
            assert [each.id for each in client.jobs()] == ["j_2", "j_1"]
    assert "authorization" not in elsewhere.asked[0].headers


def test_a_bad_filter_is_told() -> None:
    problem = {"title": "The request is not valid", "errors": [{"pointer": "?state", "detail": "must be one of"}]}
    server = ScriptedServer((400, {}, problem))
    with client_of(server) as client, pytest.raises(Refused) as refused:
        list(client.jobs(states=["done"]))
    assert "?state: must be one of" in str(refused.value)


def test_lines_say_the_same_as_the_table_and_json_says_everything(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [
        job(2, state="running", attempt=2, progress={"done": 1, "total": 4, "percent": 25, "stage": "[b]exporting"}),
        job(1, reason="waiting_for_worker"),
    ]
    print_lines(map(job_of, jobs))
    assert capsys.readouterr().out.splitlines() == [
        "j_2 gst-export running 2026-11-10T12:00:00Z 25% [b]exporting, attempt 2",
        "j_1 gst-export queued 2026-11-10T12:00:00Z waiting_for_worker",
    ]
    print_json(map(job_of, jobs))
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == jobs
    shown = StringIO()
    print_table(map(job_of, jobs), Console(file=shown, width=150))
    title, first, second = (" ".join(line.split()) for line in shown.getvalue().splitlines())
    assert title.startswith("id kind state")
    assert first == "j_2 gst-export running 25% 2026-11-10 12:00:00 [b]exporting, attempt 2"
    assert second == "j_1 gst-export queued 2026-11-10 12:00:00 waiting_for_worker"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_the_command_lists_what_its_options_ask_for(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ScriptedServer(page(2, 1))
    with server.running() as url:
        options = ["--state", "queued", "--kind", "gst-export", "--label", "team:tax", "--limit", "7", *flags]
        monkeypatch.setattr("sys.argv", ["coatcheck", "jobs", *options, "--api-url", url, "--api-key", "k"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0
    assert parse_qsl(server.paths[0].partition("?")[2]) == [
        ("state", "queued"),
        ("kind", "gst-export"),
        ("label", "team:tax"),
        ("limit", "7"),
    ]
    assert ["j_2" in line for line in capsys.readouterr().out.splitlines()] == [True, False]
