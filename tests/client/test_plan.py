"""`coatcheck plan` says how many workers a load takes and why, and what to do where that meets a limit."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck_client.plan import Bound, Questions, stage_plan, what_if
from coatcheck_client.plan_advice import advice
from coatcheck_client.plan_text import lines, number, spoken
from infra.capacity import Load, Source
from infra.config import CONFIGS, Stage
from tests.client.command import Run

PROD = CONFIGS[Stage.PROD]
ASKED = Questions(backlog=1000, chunks=100, account_concurrency=1000)
VIDEO = ("--arrivals-per-hour", "10000", "--jobs-per-arrival", "4", "--seconds", "240")


def reasoning(shown: str) -> Mapping[str, str]:
    """The text beside each name; lines without a name go on from the one above."""
    found: dict[str, str] = {}
    name = ""
    for line in shown.splitlines()[1:]:
        name = line[2:12].strip() or name
        found[name] = f"{found.get(name, '')}{line[12:]}\n"
    return found


def test_the_plan_of_production_says_why_it_has_86_slots(run: Run) -> None:
    ended = run("plan")
    said = reasoning(ended.stdout)
    assert ended.code == 0
    assert ended.stdout.startswith("prod\n")
    assert said["arrivals"] == "1,800 an hour ÷ 3,600 s = 0.5 jobs/s\n"
    assert said["busy"] == "0.5/s × 120 s = 60 workers at work on average (Little's law)\n"
    assert said["slots"] == "60 ÷ 0.7 target utilisation = 86\n"
    assert said["source"].endswith("= 100 workers at once, so the load decides: 86 slots\n")
    assert "interactive: MaximumConcurrency 69 of a mapping's 1,000; 69 of a queue's 120,000" in said["lanes"]
    assert "bulk: MaximumConcurrency 17" in said["lanes"]
    assert "= 298 at once of 1,000: 702 are left" in said["account"]


def test_the_plan_of_production_says_how_long_things_take(run: Run) -> None:
    said = reasoning(run("plan", "--backlog", "5000", "--chunk-seconds", "60").stdout)
    assert "interactive: 69 × 900 s ÷ 120 s = 517 jobs drain in 15 min" in said["line"]
    assert (
        "interactive: 5,000 jobs × 120 s ÷ 69 = 2 h 25 min; while 0.401/s go on to come, 7 h 59 min" in said["backlog"]
    )
    assert "5,086 open jobs (slots and backlog) ÷ 1,000 polls/s" in said["polls"]
    assert "Retry-After 6 s, 847.7 polls/s" in said["polls"]
    assert said["fan-out"] == "100 chunks × 60 s ÷ 14 at once beside the lanes = 8 rounds, 8 min\n"
    assert said["crash"].startswith("checkpoints 30 s apart: up to 30 s of work lost, 15 s on average; another")
    assert said["crash"].endswith("after 95 to 125 s\n")


def test_what_fits_needs_nothing(run: Run) -> None:
    assert run("plan").stdout.splitlines()[-1].startswith("nothing to do: it fits")


def test_the_video_platform_exceeds_one_mapping_and_is_told_what_to_do(run: Run) -> None:
    shown = run("plan", *VIDEO).stdout
    said = reasoning(shown)
    assert said["arrivals"] == "10,000 an hour × 4 jobs ÷ 3,600 s = 11.11 jobs/s\n"
    assert said["busy"].startswith("11.11/s × 240 s = 2,666.7 workers")
    assert said["slots"] == "2,666.7 ÷ 0.92 target utilisation (so large a pool needs few to spare) = 2,899\n"
    assert "2,899 slots exceed one mapping's 1,000: 3 mappings with MaximumConcurrency 967" in said["lanes"]
    assert "3,111 at once of 1,000: 2,111 too many" in said["account"]
    todo = [line for line in shown.splitlines() if line.startswith("  * ")]
    assert len(todo) == 3
    assert "Split them into 3 lanes of 967 slots, what-if-0 to what-if-2" in todo[0]
    assert "N = crc32(id) mod 3" in todo[0]
    assert "Ask for 3,300 concurrent executions" in todo[1]
    assert "3,111 for the functions above and 100 for those of the API are 3,211." in todo[1]
    assert "containers (ECS, AWS Batch): 2,899 workers with a vCPU each are 182 tasks of 16 vCPU" in todo[2]


def test_the_advice_to_the_video_platform_makes_a_config() -> None:
    lanes = tuple(replace(PROD.lanes[0], name=f"render-{number}", share=1) for number in range(3))
    load = Load(arrivals_per_second=10_000 * 4 / 3600, mean_duration_seconds=240, target_utilisation=0.92)
    config = replace(PROD, load=load, source=Source(), lanes=lanes)
    assert sorted(config.maximum_concurrency.values()) == [966, 966, 967]


def test_an_account_that_has_been_raised_is_not_asked_for_again(run: Run) -> None:
    assert "Ask for" not in run("plan", *VIDEO, "--account-concurrency", "3300").stdout


def test_a_hotter_pool_takes_what_is_told(run: Run) -> None:
    assert "2,666.7 ÷ 0.7 target utilisation = 3,810" in run("plan", *VIDEO, "--utilisation", "0.7").stdout


def test_a_small_load_aims_at_what_its_stage_aims_at(run: Run) -> None:
    shown = run("plan", "--arrivals-per-hour", "1800", "--seconds", "120").stdout
    assert "60 ÷ 0.7 target utilisation = 86" in shown


def test_a_source_that_decides_is_named_and_what_that_costs() -> None:
    slow = replace(PROD, source=Source(rows_per_second=700_000, rows_per_second_per_worker=10_000))
    plan = stage_plan(slow, ASKED)
    assert (plan.bound, plan.slots) == (Bound.SOURCE, 70)
    assert "serves 70 workers, not 86: they are busy for 86% of the time, not 70%" in " ".join(advice(plan))


def test_a_source_that_cannot_keep_up_is_told_of_as_a_backlog_that_never_drains() -> None:
    slow = replace(PROD, source=Source(rows_per_second=300_000, rows_per_second_per_worker=10_000))
    plan = stage_plan(slow, ASKED)
    assert "it never drains" in "\n".join(lines(plan))
    # 30 workers end 0.25 of 0.5 jobs a second
    assert "30 of the 60 workers" in " ".join(advice(plan))
    assert "grows by 900 jobs an hour" in " ".join(advice(plan))
    assert plan.fan_out.concurrency == 1


def test_two_lanes_on_a_source_for_three_workers_are_told_of() -> None:
    tiny = replace(PROD, source=Source(rows_per_second=30_000, rows_per_second_per_worker=10_000))
    assert "4 workers read from a source that serves 3" in " ".join(advice(stage_plan(tiny, ASKED)))


def test_lanes_that_need_the_least_are_more_than_the_slots_together_and_that_is_said() -> None:
    lanes = tuple(replace(PROD.lanes[0], name=name, share=share) for name, share in (("a", 4), ("b", 1), ("c", 2)))
    small = replace(PROD, lanes=lanes, source=Source(), load=replace(PROD.load, arrivals_per_second=0.04))
    plan = stage_plan(small, ASKED)
    assert {name: lane.slots for name, lane in plan.lanes.items()} == {"a": 4, "b": 2, "c": 2}
    assert "8 slots together, not 7: no lane can have fewer than 2\n" in reasoning("\n".join(lines(plan)))["lanes"]
    assert "slots together" not in "\n".join(lines(stage_plan(PROD, ASKED)))
    served = Source(rows_per_second=90_000, rows_per_second_per_worker=10_000)
    assert stage_plan(replace(small, source=served), ASKED).fan_out.concurrency == 1  # 8 of 9 are the lanes'


@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_has_a_plan_that_is_its_config(stage: Stage, run: Run) -> None:
    config = CONFIGS[stage]
    plan = json.loads(run("plan", "--stage", stage, "--json").stdout)
    assert plan["of"] == stage
    assert plan["slots"] == config.slots
    assert {name: lane["maximum_concurrency"] for name, lane in plan["lanes"].items()} == config.maximum_concurrency
    assert {name: lane["line_jobs"] for name, lane in plan["lanes"].items()} == config.lane_lines
    assert plan["advice"] == []


def test_a_program_gets_the_numbers_and_the_advice(run: Run) -> None:
    plan = json.loads(run("plan", *VIDEO, "--json").stdout)
    assert (plan["busy_workers"], plan["slots"]) == (pytest.approx(2666.67, abs=0.01), 2899)
    assert plan["lanes"]["what-if"]["mappings"] == 3
    assert len(plan["advice"]) == 3
    stuck = json.loads(run("plan", *VIDEO, "--source-workers", "100", "--json").stdout)
    assert (stuck["bound"], stuck["lanes"]["what-if"]["drain_seconds_with_arrivals"]) == ("source", None)


@given(
    arrivals=st.floats(0.001, 10**6),
    seconds=st.floats(0.1, 10**6),
    workers=st.none() | st.integers(1, 10**6),
    backlog=st.integers(0, 10**9),
)
def test_any_load_has_a_plan_within_all_limits(
    arrivals: float, seconds: float, workers: int | None, backlog: int
) -> None:
    load = Load(arrivals_per_second=arrivals, mean_duration_seconds=seconds, target_utilisation=0.7)
    plan = what_if(PROD, replace(ASKED, backlog=backlog), load=load, jobs_per_arrival=1, source_workers=workers)
    (lane,) = plan.lanes.values()
    assert 2 <= lane.maximum_concurrency <= 1000
    assert lane.mappings * lane.maximum_concurrency >= lane.slots >= plan.slots
    assert workers is None or plan.slots <= workers
    assert lane.drain_seconds_with_arrivals >= lane.drain_seconds
    assert all(line.strip() for line in lines(plan))


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (("--stage", "staging"), "infra/config.py has no stage 'staging'", "one of local, dev, prod"),
        (("--seconds", "240"), "--seconds is of a load that is told as a whole, and --arrivals-per-hour is", "such as"),
        (("--arrivals-per-hour", "9"), "and --seconds is missing", "--arrivals-per-hour 10000"),
        (("--utilisation", "0.9"), "--utilisation is of a load", "leave all of them out"),
        ((*VIDEO, "--utilisation", "92"), "--utilisation is 92, not above 0 and at most 1", "0.7 for 70 %"),
        ((*VIDEO, "--seconds", "0"), "--seconds is 0, not above 0 and at most 2,592,000", "such as 240"),
        ((*VIDEO, "--seconds", "nan"), "--seconds is nan", "such as 240"),
        ((*VIDEO, "--arrivals-per-hour", "-5"), "--arrivals-per-hour is -5", "such as 10000"),
        ((*VIDEO, "--arrivals-per-hour", "inf"), "--arrivals-per-hour is inf", "such as 10000"),
        (("--chunk-seconds", "0"), "--chunk-seconds is 0", "such as 60"),
        (("--checkpoint-seconds", "-1"), "--checkpoint-seconds is -1", "such as 30"),
    ],
)
def test_bad_input_is_told_with_what_to_do(options: tuple[str, ...], error: str, hint: str, run: Run) -> None:
    ended = run("plan", *options)
    first, second = ended.stderr.splitlines()
    assert (ended.code, ended.stdout) == (2, "")
    assert first.startswith("error: ")
    assert error in first
    assert hint in second


@pytest.mark.parametrize(
    ("option", "value", "border"),
    [("--backlog", "-1", "0"), ("--chunks", "0", "1"), ("--chunk-concurrency", "10001", "10000")],
)
def test_a_count_out_of_its_range_is_told_with_the_range(option: str, value: str, border: str, run: Run) -> None:
    ended = run("plan", option, value)
    assert ended.code == 2
    assert re.search(rf"'{option}': .*\b{border}\b", ended.stderr)


def test_a_config_that_cannot_be_is_told_and_not_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.capacity.split", lambda *_: {"interactive": 2899})
    monkeypatch.delitem(sys.modules, "infra.config")
    ended = run("plan")
    assert ended.code == 5
    assert "lane interactive: 2,899 slots, and a mapping has 1,000 at most: split it" in ended.stderr


def test_a_plan_needs_neither_the_cdk_nor_aws() -> None:
    heavy = "{'aws_cdk', 'jsii', 'boto3', 'botocore'} & set(sys.modules)"
    program = f"import sys; from coatcheck_client.commands import planning; planning.plan(); print({heavy})"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (60.0, "60"),
        (0.5, "0.5"),
        (11.1111, "11.11"),
        (2666.6667, "2,666.7"),
        (1000.0, "1,000"),
        (0.40116, "0.401"),
        (0, "0"),
    ],
)
def test_a_number_has_the_digits_that_matter(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (1.5, "1.5 s"), (480, "8 min"), (3599, "1 h 0 min"), (8696, "2 h 25 min"), (183_600, "2 d 3 h")],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
