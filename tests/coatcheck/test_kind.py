"""Declarations of kinds: checked at once, with advice."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from coatcheck import JobContext, Result, Retry, job
from coatcheck.kind import InvalidKind, kind_of
from tests.coatcheck.scripts import Args


def good(ctx: JobContext, args: Args) -> Result:
    return Result(rows=len(args.text))


@dataclass
class Thawed:
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Unspeakable:
    what: object = field(default_factory=object)
    how: Callable[[], None] | None = None


def one_parameter(ctx: JobContext) -> Result:
    return Result()


def three_parameters(ctx: JobContext, args: Args, more: int) -> Result:
    return Result()


def no_annotation(ctx: JobContext, args) -> Result:  # type: ignore[no-untyped-def]  # what is tested
    return Result()


def args_are_a_dict(ctx: JobContext, args: dict[str, int]) -> Result:
    return Result()


def args_thawed(ctx: JobContext, args: Thawed) -> Result:
    return Result()


def args_unspeakable(ctx: JobContext, args: Unspeakable) -> Result:
    return Result()


@pytest.mark.parametrize(
    ("handler", "options", "advice"),
    [
        (one_parameter, {}, "def export(ctx: JobContext, args: Args) -> Result"),
        (three_parameters, {}, "takes two parameters"),
        (no_annotation, {}, "annotate `args` with a dataclass"),
        (args_are_a_dict, {}, "annotate `args` with a dataclass"),
        (args_thawed, {}, "declare Thawed with @dataclass(frozen=True, kw_only=True)"),
        (args_unspeakable, {}, "Unspeakable has no JSON form"),
        (good, {"unique": ("seller",)}, "unique names args that Args does not have: seller"),
        (good, {"unique": "text"}, 'unique takes several names: write unique=("text",)'),
        (good, {"unique": ("text", "text")}, "unique names an arg twice: text, text"),
        (good, {"cap_by": "text"}, 'cap_by takes several names: write cap_by=("text",)'),
        (good, {"cap_by": ("text", "text")}, "cap_by names an arg twice: text, text"),
        (good, {"cap_by": ("seller", 7)}, "cap_by names args that Args does not have: seller, 7"),
        (good, {"cap_by": ()}, "cap_by names no args: leave it out, or name some"),
        (good, {"cap_each": 2}, "cap_each is of jobs with the same values of cap_by, and cap_by is missing"),
        (good, {"cap_each": 0, "cap_by": ("text",)}, "cap_each must be a whole number within 1 and 100, not 0: "),
        (good, {"cap": 0}, "cap must be a whole number within 1 and 100, not 0: leave it out for no cap"),
        (good, {"cap": 101}, "cap must be a whole number within 1 and 100, not 101"),
        (good, {"cap": "3"}, "cap must be a whole number within 1 and 100, not '3'"),
        (good, {"cap": 2.5}, "cap must be a whole number within 1 and 100, not 2.5"),
        (good, {"cap": True}, "cap must be a whole number within 1 and 100, not True"),
        (good, {"route": "reports"}, "must look like /v1/reports/gst-export"),
        (good, {"route": "/v1/Reports"}, "must look like"),
        (good, {"route": "/v1/reports/"}, "must look like"),
        (good, {"route": "/v1/reports\n"}, "must look like"),
        (good, {"timeout": timedelta(0)}, "timeout must be positive"),
        (good, {"timeout": 300}, "timeout must be a timedelta"),
        (good, {"retry": Retry(failures=0)}, "retry.failures must be at least 1"),
        (good, {"retry": Retry(delays=())}, "at least one wait"),
        (good, {"retry": Retry(delays=(timedelta(seconds=-1),))}, "none of them negative"),
    ],
)
def test_a_wrong_declaration_fails_at_import_and_says_what_to_write(
    handler: Any, options: dict[str, Any], advice: str
) -> None:
    with pytest.raises(InvalidKind) as wrong:
        job(**options)(handler)
    assert advice in str(wrong.value)
    assert handler.__qualname__ in wrong.value.where


def test_a_declared_function_stays_a_plain_callable_that_knows_its_kind() -> None:
    def report(ctx: JobContext, args: Args) -> Result:
        return good(ctx, args)

    declared = job(route="/v1/reports/gst-export", unique=("text",), lane="bulk")(report)
    assert declared is report
    context: Any = None
    assert declared(context, Args(text="abc")) == Result(rows=3)
    kind = kind_of(declared)
    assert kind is not None
    assert (kind.name, kind.args, kind.route, kind.unique, kind.lane) == (
        "test-kind", Args, "/v1/reports/gst-export", ("text",), "bulk",
    )  # fmt: skip
    assert kind.retry == Retry(failures=5)
    assert (kind.cap, kind.cap_by, kind.cap_each) == (None, (), 1)


def test_what_was_not_declared_has_no_kind() -> None:
    assert kind_of(good) is None
    assert kind_of(object()) is None
