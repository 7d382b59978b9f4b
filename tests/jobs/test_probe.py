"""The probe does what it is told."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest

from coatcheck.endings import YieldRequested
from coatcheck.job import Progress
from coatcheck.objects import MINIMUM_PART_BYTES
from coatcheck.outcome import Failed, Snoozed, Succeeded, Yielded
from coatcheck.testing import Performed, perform
from jobs.probe import ONE_STEP, probe


def run(attempt: int = 1, cursor: object = None, **args: Any) -> Performed:
    return perform(probe, args, attempt=attempt, cursor=cursor)


def test_by_default_it_succeeds_at_once_and_leaves_nothing() -> None:
    done = run()
    assert isinstance(done.outcome, Succeeded)
    assert (done.outcome.result.file, done.checkpoints, done.objects.contents) == (None, (), {})
    assert done.progress == (Progress(done=1, total=1, stage="probing"),)


def test_it_saves_each_step_but_the_last_and_tells_of_all() -> None:
    done = run(steps=3)
    assert done.checkpoints == ('{"done":1,"upload":null}', '{"done":2,"upload":null}')
    assert [progress.done for progress in done.progress] == [1, 2, 3]
    assert run(steps=3, checkpoint=False).checkpoints == ()


def test_it_goes_on_from_its_checkpoint() -> None:
    again = run(attempt=2, cursor='{"done":2}', steps=4)
    assert [progress.done for progress in again.progress] == [3, 4]


def test_it_stops_at_a_checkpoint_when_it_must() -> None:
    stopped = perform(probe, {"steps": 9}, at_checkpoint=lambda number: YieldRequested() if number == 3 else None)
    assert (stopped.outcome, len(stopped.checkpoints)) == (Yielded(advanced=True), 3)


def test_its_seconds_are_shared_by_its_steps() -> None:
    assert run(seconds=9, steps=3).waits == (3.0, 3.0, 3.0)


def test_a_wait_that_was_cut_short_comes_to_a_checkpoint_and_does_not_count_as_done() -> None:
    stopped = perform(probe, {"seconds": 60, "steps": 2}, at_checkpoint=lambda _: YieldRequested())
    assert stopped.checkpoints == ('{"done":0,"upload":null}',)
    assert {each.done for each in stopped.progress} == {0}


def test_cpu_bound_work_takes_its_time_on_the_processor() -> None:
    before = time.process_time()
    assert isinstance(run(seconds=0.2, cpu_bound=True).outcome, Succeeded)
    assert time.process_time() - before > 0.05


def test_it_fails_as_often_as_it_was_told_to_and_then_succeeds() -> None:
    outcomes = [run(attempt=attempt, fail_times=2).outcome for attempt in (1, 2, 3)]
    assert [type(outcome) for outcome in outcomes] == [Failed, Failed, Succeeded]


def test_it_fails_when_half_of_its_steps_are_done_so_that_there_is_a_checkpoint_to_go_on_from() -> None:
    assert run(fail_times=1, steps=4).checkpoints == ('{"done":1,"upload":null}', '{"done":2,"upload":null}')


@pytest.mark.parametrize(
    ("how", "error", "retryable"), [("transient", "TransientFault", True), ("permanent", "Permanent", False)]
)
def test_a_failure_is_of_the_kind_that_was_asked_for(*, how: str, error: str, retryable: bool) -> None:
    outcome = run(fail_times=1, fail_with=how).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.error.type, outcome.error.retryable) == (error, retryable)


def test_it_can_snooze() -> None:
    assert run(fail_times=1, fail_with="snooze").outcome == Snoozed(delay=ONE_STEP)


def test_a_crash_takes_the_process_with_it_and_says_nothing() -> None:
    program = "from coatcheck.testing import perform\nfrom jobs.probe import probe\n"
    text = program + 'perform(probe, {"fail_times": 1, "fail_with": "crash"})\nprint("still here")'
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    crashed = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, check=False)
    assert (crashed.returncode, crashed.stdout) == (70, b"")


@pytest.mark.parametrize("size", [1, 16, 1_000_003])
def test_a_result_has_the_size_that_was_asked_for(size: int) -> None:
    done = run(result_bytes=size)
    assert isinstance(done.outcome, Succeeded)
    assert done.outcome.result.file is not None
    (content,) = done.objects.contents.values()
    assert (len(content), done.outcome.result.file.bytes, done.outcome.result.file.content_type) == (
        size, size, "text/plain",
    )  # fmt: skip
    assert content[:16] == b"0123456789abcde\n"[:size]


def test_a_large_result_is_put_in_parts_that_s3_takes() -> None:
    size = 2 * 8 * 1024 * 1024 + MINIMUM_PART_BYTES
    done = run(result_bytes=size)
    assert isinstance(done.outcome, Succeeded)
    assert [len(content) for content in done.objects.contents.values()] == [size]


@pytest.mark.parametrize(
    "args", [{"seconds": -1}, {"steps": 0}, {"fail_with": "fire"}, {"result_bytes": 2**31}, {"chunks": 3}]
)
def test_it_refuses_what_it_cannot_do(args: dict[str, Any]) -> None:
    outcome = run(**args).outcome
    assert isinstance(outcome, Failed)
    assert outcome.error.type == "InvalidArgs"


def test_a_large_result_whose_worker_died_before_it_could_say_so_is_found_finished() -> None:
    size = 20 * 1024 * 1024
    first = run(result_bytes=size)
    assert isinstance(first.outcome, Succeeded)
    again = perform(probe, {"result_bytes": size}, attempt=2, cursor=first.checkpoints[-1], objects=first.objects)
    assert again.outcome == first.outcome
    assert set(first.objects.versions.values()) == {1}


def test_a_large_result_is_stopped_and_resumed_without_another_byte() -> None:
    size = 20 * 1024 * 1024
    stopped = perform(probe, {"result_bytes": size}, at_checkpoint=lambda _: YieldRequested())
    assert stopped.objects.contents == {}
    (upload,) = stopped.objects.uploads
    stopped.objects.forget_parts(upload, [2, 3])
    again = perform(probe, {"result_bytes": size}, attempt=2, cursor=stopped.checkpoints[-1], objects=stopped.objects)
    assert isinstance(again.outcome, Succeeded)
    assert list(again.objects.contents.values()) == list(run(result_bytes=size).objects.contents.values())
