"""An attempt: whatever a kind's function does becomes one of the closed set of outcomes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck import Cancel, JobContext, Permanent, Result, Snooze
from coatcheck.attempt import described
from coatcheck.endings import CancelRequested, Interrupt, LeaseLost, YieldRequested
from coatcheck.job import MOST_MESSAGE_BYTES, Error
from coatcheck.kind import Retry, job
from coatcheck.outcome import Cancelled, Failed, Outcome, Snoozed, Succeeded, Yielded
from coatcheck.testing import perform
from coatcheck.text import cut
from tests.coatcheck.scripts import Args, Hopeless


class Wordless(Exception):
    def __str__(self) -> str:
        raise KeyError("even the message is broken")


class OfHopeless(Hopeless):
    """A fault of the kind that is given up on."""


def ending(play: Callable[[JobContext], Any], args: object = Args()) -> Outcome:
    @job(retry=Retry(give_up_on=(Hopeless,)))
    def play_it(ctx: JobContext, args: Args) -> Result | None:
        found: Result | None = play(ctx)
        return found

    return perform(play_it, args).outcome


def raising(error: BaseException) -> Callable[[JobContext], None]:
    def play(ctx: JobContext) -> None:
        raise error

    return play


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (YieldRequested(), Yielded(advanced=True)),
        (CancelRequested(), Cancelled(reason="cancelled on request")),
        (Snooze(timedelta(minutes=3)), Snoozed(delay=timedelta(minutes=3))),
        (Cancel("nothing to export"), Cancelled(reason="nothing to export")),
        (Permanent("no"), Failed(error=Error(type="Permanent", message="no", retryable=False))),
        (Hopeless("no"), Failed(error=Error(type="Hopeless", message="no", retryable=False))),
        (OfHopeless("no"), Failed(error=Error(type="OfHopeless", message="no", retryable=False))),
        (ConnectionError("gone"), Failed(error=Error(type="ConnectionError", message="gone"))),
        (RecursionError("deep"), Failed(error=Error(type="RecursionError", message="deep"))),
        (MemoryError(), Failed(error=Error(type="MemoryError", message=""))),
        (Wordless(), Failed(error=Error(type="Wordless", message="it has no message"))),
    ],
)
def test_whatever_a_function_raises_is_one_outcome(error: BaseException, outcome: Outcome) -> None:
    assert ending(raising(error)) == outcome


def test_a_function_may_return_a_result_or_nothing() -> None:
    assert ending(lambda _: Result(rows=3)) == Succeeded(result=Result(rows=3))
    assert ending(lambda _: None) == Succeeded(result=Result())


def test_a_lost_lease_has_no_outcome() -> None:
    with pytest.raises(LeaseLost):
        ending(raising(LeaseLost("j_1", 2)))


def test_what_the_platform_raises_passes_a_handlers_own_except_clauses() -> None:
    assert not issubclass(Interrupt, Exception)
    assert {YieldRequested, CancelRequested, LeaseLost} <= set(Interrupt.__subclasses__())


def test_args_that_do_not_fit_fail_at_once_with_every_fault() -> None:
    outcome = ending(lambda _: None, {"text": 7, "color": "red"})
    assert isinstance(outcome, Failed)
    assert (outcome.error.type, outcome.error.retryable) == ("InvalidArgs", False)
    assert "/args/text" in outcome.error.message
    assert "/args/color" in outcome.error.message


@pytest.mark.parametrize("wrong", [2.5, float("nan"), float("inf")])
def test_a_result_that_no_row_could_hold_is_the_functions_error(wrong: Any) -> None:
    outcome = ending(lambda _: Result(rows=wrong))
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "TypeError"
    assert str(wrong) in outcome.error.message


def test_an_error_of_a_megabyte_is_cut_so_that_a_row_can_hold_it() -> None:
    error = described(ValueError("रिपोर्ट" * 100_000), retryable=True)
    assert len(error.message.encode()) <= MOST_MESSAGE_BYTES
    assert error.message.startswith("रिपोर्ट")
    assert error.message.endswith("…")


@given(text=st.text(st.characters(codec=None)), most=st.integers(3, 40))
def test_texts_are_cut_on_a_border_of_utf8_and_only_if_they_must(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short.encode()) <= most
    if len(text.encode(errors="replace")) <= most:
        assert short == text.encode(errors="replace").decode()
    else:
        assert short.endswith("…")
        assert text.encode(errors="replace").decode().startswith(short[:-1])


def test_half_of_a_surrogate_pair_in_an_error_can_be_stored() -> None:
    assert described(ValueError("name \ud800"), retryable=True).message == "name ?"


def test_a_snooze_does_not_wait_into_the_past() -> None:
    with pytest.raises(ValueError, match="zero or more"):
        Snooze(timedelta(seconds=-1))


@pytest.mark.parametrize("returned", ["hello", 7, {"rows": 1}, Result])
def test_a_job_that_returns_something_else_than_a_result_has_failed_for_good(returned: object) -> None:
    outcome = ending(lambda _: returned)
    assert isinstance(outcome, Failed)
    assert (outcome.error.type, outcome.error.retryable) == ("TypeError", False)
