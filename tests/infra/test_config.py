"""Numbers that follow from each other."""

from dataclasses import replace
from datetime import timedelta

import pytest

from coatcheck.timings import Timings
from infra.capacity import ApiConfig, FunctionSize, Source
from infra.config import CONFIGS, Config, Stage, configured

EVERY_STAGE = pytest.mark.parametrize("config", CONFIGS.values(), ids=lambda config: config.stage)


def test_slots_follow_from_the_load() -> None:
    # 0.5 jobs a second of 120 seconds each keep 60 workers busy; at 70 % that takes 86
    assert CONFIGS[Stage.PROD].slots == 86


def test_slots_are_split_four_to_one_between_the_lanes() -> None:
    assert CONFIGS[Stage.PROD].maximum_concurrency == {"interactive": 69, "bulk": 17}


@EVERY_STAGE
def test_lanes_get_all_slots_and_at_least_the_two_that_the_service_wants(config: Config) -> None:
    assert min(config.maximum_concurrency.values()) >= 2
    assert sum(config.maximum_concurrency.values()) >= config.slots
    assert sum(config.maximum_concurrency.values()) <= config.slots + len(config.lanes)


def test_a_lanes_line_is_what_it_drains_in_a_quarter_of_an_hour() -> None:
    # 69 and 17 workers, two minutes a job
    assert CONFIGS[Stage.PROD].lane_lines == {"interactive": 517, "bulk": 127}


@EVERY_STAGE
def test_every_lane_has_a_line(config: Config) -> None:
    assert config.lane_lines.keys() == config.maximum_concurrency.keys()
    assert min(config.lane_lines.values()) >= 1


def test_a_lane_that_no_mapping_could_feed_is_refused() -> None:
    config = CONFIGS[Stage.PROD]
    flood = replace(config.load, arrivals_per_second=10_000 * 4 / 3600, mean_duration_seconds=240)
    with pytest.raises(ValueError, match=r"lane interactive: 3,048 slots.* 1,000 at most"):
        replace(config, load=flood, source=Source())


def test_a_slow_source_bounds_the_slots() -> None:
    slow = Source(rows_per_second=300_000, rows_per_second_per_worker=10_000)
    assert replace(CONFIGS[Stage.PROD], source=slow).slots == 30


def test_an_unpaced_source_bounds_nothing() -> None:
    assert replace(CONFIGS[Stage.PROD], source=Source()).slots == CONFIGS[Stage.PROD].load.slots


def test_a_source_slower_than_one_worker_is_refused() -> None:
    with pytest.raises(ValueError, match="no worker"):
        Source(rows_per_second=5_000, rows_per_second_per_worker=10_000)


@EVERY_STAGE
def test_a_worker_has_time_to_yield_before_it_is_stopped(config: Config) -> None:
    for lane in config.lanes:
        timeout = timedelta(seconds=lane.size.timeout_seconds)
        assert timeout > config.timings.yield_before > config.timings.hard_stop_before > timedelta(0)


@EVERY_STAGE
def test_a_lease_outlives_missed_beats(config: Config) -> None:
    assert config.timings.lease >= 3 * config.timings.beat


@EVERY_STAGE
def test_the_supervisor_walks_as_often_as_the_stage_asks_within_one_function_run(config: Config) -> None:
    timeout = timedelta(seconds=config.supervisor_function.timeout_seconds)
    assert timeout >= min(config.timings.supervise_every, timedelta(minutes=1))


def test_production_waits_as_long_as_the_rules_say_by_default() -> None:
    assert CONFIGS[Stage.PROD].timings == Timings()


def test_on_this_machine_everything_is_faster() -> None:
    here, there = CONFIGS[Stage.LOCAL].timings, CONFIGS[Stage.PROD].timings
    assert here.lease < there.lease
    assert here.supervise_every < there.supervise_every
    assert sum(here.retry_delays, timedelta()) < timedelta(seconds=15)


@pytest.mark.parametrize("seconds", [-1, 61])
def test_a_revoked_key_works_for_a_minute_at_most(seconds: int) -> None:
    with pytest.raises(ValueError, match="authorizer_cache_seconds"):
        ApiConfig(requests_per_second=1, request_burst=1, waiters=1, authorizer_cache_seconds=seconds)


def test_a_worker_cannot_be_given_more_than_lambda_has() -> None:
    config = CONFIGS[Stage.PROD]
    too_long = replace(config.lanes[0], size=FunctionSize(memory_mb=1769, timeout_seconds=901))
    with pytest.raises(ValueError, match="lane interactive"):
        replace(config, lanes=(too_long,))


def test_the_context_says_which_stage() -> None:
    assert configured({"stage": "prod"}.get).stage is Stage.PROD
    nothing: dict[str, str] = {}
    assert configured(nothing.get).stage is Stage.DEV
    with pytest.raises(ValueError, match="staging"):
        configured({"stage": "staging"}.get)


def test_the_context_gives_an_address_to_the_local_stage_alone() -> None:
    context = {"source_url": "postgresql://localhost/shop", "source_rows_per_second": "5000"}
    local = configured({**context, "stage": "local"}.get)
    assert local.source.url == "postgresql://localhost/shop"
    assert local.source.rows_per_second_per_worker == 5000
    assert configured({**context, "stage": "prod"}.get) == CONFIGS[Stage.PROD]
