"""Requests: what is asked for is checked before anything is accepted."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import jobs
from coatcheck.job import Job
from coatcheck.problem import BadRequest, Busy, TooLarge
from coatcheck.request import MOST_ARGS_BYTES, Request, checked_key, requested_job
from tests.coatcheck.rows import NOW, TIMINGS, seconds
from tests.coatcheck.submits import ACME, TERMS


def job_of(**fields: Any) -> Job:
    return requested_job(Request(fields={"kind": "probe"} | fields, key=None), ACME, TERMS, NOW)[1]


def pointers(**fields: Any) -> list[str]:
    with pytest.raises(BadRequest) as refused:
        job_of(**fields)
    return [fault.pointer for fault in refused.value.faults]


@pytest.mark.parametrize("key", ["a", "a#b", "!~", "k" * 255, '"quoted"', "0"])
def test_a_key_is_up_to_255_visible_ascii_characters(key: str) -> None:
    assert checked_key((key,)) == key


@pytest.mark.parametrize(
    "keys",
    [
        ("",),
        (" ",),
        ("a b",),
        (" a",),
        ("k" * 256,),
        ("k" * 3000,),
        ("é",),
        ("🎟",),
        ("a\r\n",),
        ("a\n",),
        ("a\0",),
        ("a", "a"),
    ],
)
def test_an_odd_key_is_refused_by_the_name_of_its_header(keys: tuple[str, ...]) -> None:
    with pytest.raises(BadRequest, match="Idempotency-Key"):
        checked_key(keys)


def test_no_key_is_no_key_and_not_an_empty_one() -> None:
    assert checked_key(()) is None


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"kind": None}, "/kind"),
        ({"kind": 7}, "/kind"),
        ({"kind": "no-such-kind"}, "/kind"),
        ({"kind": "../probe"}, "/kind"),
        ({"kind": "Probe"}, "/kind"),
        ({"kind": "probe\n"}, "/kind"),
        ({"kind": "_invoices"}, "/kind"),
        ({"lane": "express"}, "/lane"),
        ({"lane": None}, "/lane"),
        ({"lane": ["bulk"]}, "/lane"),
        ({"args": None}, "/args"),
        ({"args": []}, "/args"),
        ({"args": "{}"}, "/args"),
        ({"args": {"steps": 0}}, "/args/steps"),
        ({"args": {"stepz": 1}}, "/args/stepz"),
        ({"run_at": "tomorrow"}, "/run_at"),
        ({"run_at": 1_800_000_000}, "/run_at"),
        ({"run_at": "2026-11-11T00:00:00"}, "/run_at"),
        ({"run_at": "2027-11-11T00:00:00Z"}, "/run_at"),
        ({"labels": "month-end"}, "/labels"),
        ({"labels": {f"l{n}": "x" for n in range(9)}}, "/labels"),
        ({"labels": {"Upper": "x"}}, "/labels/Upper"),
        ({"labels": {"a/b": "x"}}, "/labels/a~1b"),
        ({"labels": {"batch": ""}}, "/labels/batch"),
        ({"labels": {"batch": 7}}, "/labels/batch"),
        ({"labels": {"batch": "x\n"}}, "/labels/batch"),
        ({"labels": {"batch": "x" * 65}}, "/labels/batch"),
        ({"notify": {"webhook": True}}, "/notify"),
        ({"priority": 0}, "/priority"),
    ],
)
def test_a_fault_is_named_by_a_pointer_into_the_body(fields: dict[str, Any], pointer: str) -> None:
    assert pointers(**fields) == [pointer]


def test_every_unknown_field_is_named_at_once() -> None:
    assert pointers(notify={}, priority=1) == ["/notify", "/priority"]


def test_on_a_kinds_own_route_the_args_are_the_body() -> None:
    request = Request(fields={"kind": "probe", "args": {"steps": 0, "stepz": 1}}, key=None, args_at="")
    with pytest.raises(BadRequest) as refused:
        requested_job(request, ACME, TERMS, NOW)
    assert {fault.pointer for fault in refused.value.faults} == {"/steps", "/stepz"}


def test_a_kinds_own_route_is_the_same_request_as_the_common_one() -> None:
    fields = {"kind": "probe", "args": {"steps": 2}}
    assert Request(fields=fields, key=None, args_at="").hash == Request(fields=fields, key=None).hash


def test_what_is_left_out_is_the_kinds_default(kinds: Path) -> None:
    assert kinds.is_dir()
    job = job_of(kind="monthly-report", args={"seller_id": "1"})
    assert (job.lane, job_of().lane, job_of().args) == ("bulk", "interactive", "{}")


@pytest.mark.usefixtures("kinds")
def test_args_up_to_the_limit_are_taken_and_larger_ones_are_refused_with_advice() -> None:
    room = MOST_ARGS_BYTES - len('{"text":""}')
    assert len(str(job_of(kind="script", args={"text": "x" * room}).args)) == MOST_ARGS_BYTES
    with pytest.raises(TooLarge, match="keep large inputs elsewhere") as refused:
        job_of(kind="script", args={"text": "x" * (room + 1)})
    assert [fault.pointer for fault in refused.value.faults] == ["/args"]
    with pytest.raises(TooLarge, match="64 KB"):
        job_of(kind="script", args={"text": "प" * (room // 2)})


def test_a_kind_whose_file_is_broken_is_the_services_fault_and_not_the_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crooked.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.setattr(jobs, "__path__", [*jobs.__path__, str(tmp_path)])
    with pytest.raises(Busy) as busy:
        job_of(kind="crooked")
    assert busy.value.headers == {"Retry-After": "60"}
    assert "not today" not in busy.value.detail
    assert job_of().kind == "probe"


def test_a_job_for_later_waits_for_its_time_and_is_looked_at_by_then() -> None:
    soon = job_of(run_at="2026-11-10T17:30:20+05:30")
    assert (soon.run_at, soon.due) == (NOW + seconds(20), NOW + seconds(20))
    later = job_of(run_at="2026-12-09T12:00:00Z")
    assert later.run_at == NOW + timedelta(days=29)
    assert later.due == NOW + TIMINGS.due_grace


@pytest.mark.parametrize("past", ["2026-11-10T12:00:00Z", "1999-01-01T00:00:00Z"])
def test_a_job_for_a_time_that_is_past_may_start_at_once(past: str) -> None:
    assert job_of(run_at=past).run_at is None


def test_labels_are_kept_as_they_are() -> None:
    labels = {"batch": "month-end", "seller.name": "सांकेतिक व्यापार"}
    assert job_of(labels=labels).labels == labels


@pytest.mark.parametrize("steps", [2, 2.0])
def test_a_whole_number_is_one_however_it_is_written(steps: float) -> None:
    assert job_of(args={"steps": steps}).args == '{"steps":2}'
    assert pointers(args={"steps": 2.5}) == ["/args/steps"]


def test_a_period_that_has_not_begun_is_refused_and_one_that_goes_on_is_not() -> None:
    job = job_of(kind="gst-export", args={"seller_id": "48811", "period": "2026-11"})
    assert job.kind == "gst-export"
    assert pointers(kind="gst-export", args={"seller_id": "48811", "period": "2026-12"}) == ["/args"]
