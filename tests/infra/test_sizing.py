"""Each formula, by numbers that a person can check, and by what must hold for all."""

from dataclasses import replace
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.capacity import LaneConfig, Load, Source, split
from infra.config import CONFIGS, Stage
from infra.sizing import (
    busy_workers,
    drain_line,
    drain_seconds,
    fan_out_rounds,
    fan_out_seconds,
    large_pool_utilisation,
    mappings_needed,
    polls_per_second,
    queues_needed,
    seconds_lost,
    slots_needed,
    source_slots,
    takeover_seconds,
)

RATES = st.floats(0.001, 1000)
SECONDS = st.floats(0.1, 10_000)
WORKERS = st.integers(1, 100_000)


def lane(name: str, share: int) -> LaneConfig:
    return replace(CONFIGS[Stage.PROD].lanes[0], name=name, share=share)


def test_half_a_job_a_second_of_two_minutes_keeps_sixty_workers_busy_of_eighty_six() -> None:
    assert busy_workers(arrivals_per_second=0.5, duration_seconds=120) == 60
    assert slots_needed(busy=60, target_utilisation=0.7) == 86


def test_ten_thousand_uploads_an_hour_of_four_renditions_take_two_thousand_nine_hundred_slots() -> None:
    busy = busy_workers(arrivals_per_second=10_000 * 4 / 3600, duration_seconds=240)
    assert busy == pytest.approx(2666.67, abs=0.01)
    assert slots_needed(busy=busy, target_utilisation=0.92) == 2899
    assert mappings_needed(2899) == 3


def test_a_rounding_error_is_no_worker_and_no_job() -> None:
    # 4.2 / 0.7 is 6.000000000000001 in floating point
    assert slots_needed(busy=4.2, target_utilisation=0.7) == 6
    # and 11 x 300 / 1.1 is 2999.9999999999995
    assert drain_line(11, 1.1, 5) == 3000


@given(busy=st.floats(0.01, 10**6), more=st.floats(0, 1000), utilisation=st.floats(0.01, 1), hotter=st.floats(0, 1))
def test_more_work_takes_more_slots_and_a_hotter_pool_fewer(
    busy: float, more: float, utilisation: float, hotter: float
) -> None:
    slots = slots_needed(busy=busy, target_utilisation=utilisation)
    assert slots >= busy - 0.001
    assert slots <= slots_needed(busy=busy + more, target_utilisation=utilisation)
    assert slots >= slots_needed(busy=busy, target_utilisation=min(1, utilisation + hotter))


def test_a_large_pool_may_be_hotter_than_a_small_one() -> None:
    # 4.5 x the root of 2,666.7 is 232 spare; 4.5 x the root of 60 would be 35, more than 0.7 leaves
    assert large_pool_utilisation(busy=2666.7, at_least=0.7) == 0.92
    assert large_pool_utilisation(busy=60, at_least=0.7) == 0.7
    assert large_pool_utilisation(busy=10**9, at_least=0.7) == 0.99


@given(busy=st.floats(0.01, 10**9), more=st.floats(0, 10**9), at_least=st.floats(0.01, 1))
def test_a_target_grows_with_the_pool_from_what_is_asked_and_never_above_one(
    busy: float, more: float, at_least: float
) -> None:
    target = large_pool_utilisation(busy=busy, at_least=at_least)
    assert at_least <= target <= large_pool_utilisation(busy=busy + more, at_least=at_least) <= 1


def test_a_million_rows_a_second_serve_a_hundred_workers_at_ten_thousand() -> None:
    assert source_slots(rows_per_second=1_000_000, rows_per_second_per_worker=10_000) == 100
    assert source_slots(rows_per_second=109_999, rows_per_second_per_worker=10_000) == 10


def test_a_backlog_drains_by_what_is_done_beyond_what_comes() -> None:
    # 69 workers end 0.575 jobs a second; 0.4 come meanwhile
    assert drain_seconds(backlog=5000, slots=69, duration_seconds=120) == pytest.approx(8695.65, abs=0.01)
    assert drain_seconds(backlog=5000, slots=69, duration_seconds=120, arrivals_per_second=0.4) == pytest.approx(
        28_571.43, abs=0.01
    )


@pytest.mark.parametrize("arrivals", [1, 1.5])
def test_a_backlog_does_not_shrink_while_as_much_comes_as_is_done(arrivals: float) -> None:
    assert drain_seconds(backlog=1, slots=10, duration_seconds=10, arrivals_per_second=arrivals) == inf


@given(backlog=st.integers(0, 10**6), more=st.integers(0, 10**6), slots=WORKERS, duration=SECONDS)
def test_a_longer_backlog_lasts_longer_and_more_slots_shorten_it(
    backlog: int, more: int, slots: int, duration: float
) -> None:
    seconds = drain_seconds(backlog=backlog, slots=slots, duration_seconds=duration)
    longer = drain_seconds(backlog=backlog + more, slots=slots, duration_seconds=duration)
    shorter = drain_seconds(backlog=backlog, slots=slots + 1, duration_seconds=duration)
    assert shorter <= seconds <= longer


def test_sixty_nine_workers_of_two_minutes_drain_517_jobs_in_a_quarter_of_an_hour() -> None:
    assert drain_line(69, 120, 15) == 517
    assert drain_line(10, 120, 15) == 75


def test_a_lane_of_jobs_that_take_hours_still_takes_one() -> None:
    assert drain_line(2, 3 * 3600, 15) == 1


@given(slots=WORKERS, duration=SECONDS, minutes=st.integers(1, 60))
def test_what_is_within_the_line_is_drained_in_time(slots: int, duration: float, minutes: int) -> None:
    line = drain_line(slots, duration, minutes)
    seconds = drain_seconds(backlog=line, slots=slots, duration_seconds=duration)
    assert line == 1 or seconds <= minutes * 60 + 0.001 * duration


def test_thirty_thousand_jobs_that_are_asked_for_every_half_minute_are_a_thousand_polls_a_second() -> None:
    assert polls_per_second(open_jobs=30_000, poll_seconds=30) == 1000


@pytest.mark.parametrize(("workers", "mappings"), [(1, 1), (1000, 1), (1001, 2), (2899, 3)])
def test_a_mapping_feeds_a_thousand_workers(workers: int, mappings: int) -> None:
    assert mappings_needed(workers) == mappings


@pytest.mark.parametrize(("workers", "queues"), [(2899, 1), (120_000, 1), (120_001, 2)])
def test_a_queue_has_120_000_messages_in_flight(workers: int, queues: int) -> None:
    assert queues_needed(workers) == queues


def test_a_hundred_chunks_of_a_minute_on_fourteen_workers_take_eight_rounds() -> None:
    assert fan_out_rounds(chunks=100, concurrency=14) == 8
    assert fan_out_seconds(chunks=100, chunk_seconds=60, concurrency=14) == 480


@given(chunks=st.integers(0, 10**6), seconds=SECONDS, concurrency=st.integers(1, 10_000))
def test_a_fan_out_takes_its_work_divided_and_at_most_one_chunk_more(
    chunks: int, seconds: float, concurrency: int
) -> None:
    took = fan_out_seconds(chunks=chunks, chunk_seconds=seconds, concurrency=concurrency)
    divided = chunks * seconds / concurrency
    assert divided * 0.999 <= took <= (divided + seconds) * 1.001


def test_a_crash_loses_half_a_checkpoints_interval_on_average() -> None:
    assert seconds_lost(checkpoint_seconds=30) == 15


def test_a_dead_workers_message_returns_when_its_lease_is_over() -> None:
    assert takeover_seconds(lease_seconds=120, beat_seconds=30, margin_seconds=5) == (95, 125)


@given(slots=st.integers(1, 10_000), shares=st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_lanes_add_up_to_all_slots_where_none_needs_the_least(slots: int, shares: list[int]) -> None:
    lanes = [lane(f"lane-{number}", share) for number, share in enumerate(shares)]
    parts = split(slots, lanes)
    assert set(parts) == {each.name for each in lanes}
    assert min(parts.values()) >= 2
    assert sum(parts.values()) == slots or min(parts.values()) == 2
    assert slots <= sum(parts.values()) <= slots + 2 * len(lanes)


@given(slots=st.integers(100, 10_000), shares=st.lists(st.integers(1, 20), min_size=2, max_size=6))
def test_a_lane_with_a_larger_share_has_at_least_as_many_slots(slots: int, shares: list[int]) -> None:
    parts = split(slots, [lane(f"lane-{number}", share) for number, share in enumerate(sorted(shares))])
    assert all(less <= more + 1 for less, more in pairwise(parts.values()))  # one by rounding


@pytest.mark.parametrize(
    ("arrivals", "seconds", "utilisation"),
    [(0, 120, 0.7), (float("nan"), 120, 0.7), (0.5, -1, 0.7), (0.5, float("inf"), 0.7), (0.5, 120, 0), (0.5, 120, 1.1)],
)
def test_a_load_that_cannot_be_is_refused(arrivals: float, seconds: float, utilisation: float) -> None:
    with pytest.raises(ValueError, match=r"arrivals_per_second|target_utilisation"):
        Load(arrivals_per_second=arrivals, mean_duration_seconds=seconds, target_utilisation=utilisation)


def test_a_load_and_a_source_count_by_these_formulas() -> None:
    load = Load(arrivals_per_second=0.035, mean_duration_seconds=120, target_utilisation=0.7)
    assert load.busy == pytest.approx(4.2)
    assert load.slots == 6
    assert Source(rows_per_second=25, rows_per_second_per_worker=10).slots == 2
