"""Admission: who is refused, in which order, for how long; and what it costs to find out."""

from dataclasses import replace
from datetime import timedelta

import pytest

from coatcheck.admission import BELIEVED_FOR, standing_key
from coatcheck.limiter import Caps
from coatcheck.load import COUNT_EVERY
from coatcheck.memory import MemoryStore
from coatcheck.problem import LONGEST_WAIT_SECONDS, LaneFull, TooFast, TooManyOpen
from coatcheck.run.admissions import REFUSED_BY, Admissions
from coatcheck.run.known_limits import KnownLimits
from coatcheck.run.known_load import KnownLoad
from coatcheck.tenant_limits import limits_key
from coatcheck.write import put
from tests.coatcheck.door import TERMS, Door
from tests.coatcheck.faults import RepeatingStore
from tests.coatcheck.rows import a_job


def test_a_burst_is_let_in_and_then_what_the_rate_adds() -> None:
    door = Door()
    assert door.submits(60) == 50
    door.waits(0.5)
    assert door.submits(60) == 5
    door.waits(60)
    assert door.submits(45) == 45  # 100 jobs in all


def test_one_tenants_flood_takes_nothing_from_the_others() -> None:
    door = Door()
    door.submits(500)
    assert door.submits(50, tenant="globex") == 50


def test_after_the_wait_that_is_told_one_is_let_in() -> None:
    door = Door(terms=replace(TERMS, requests_per_second=1, burst=2))
    assert door.submits(3) == 2
    refusal = door.refused()
    assert isinstance(refusal, TooFast)
    assert refusal.headers == {"Retry-After": "1"}
    assert "1 a second" in refusal.detail
    door.waits(refusal.seconds)
    assert door.submits(2) == 1


def test_an_admission_takes_one_call_and_a_refusal_none() -> None:
    door = Door()
    door.submits()
    door.calls()
    assert door.submits(49) == 49
    assert door.calls() == ["write"] * 49
    door.waits(9)
    door.submits()
    assert door.calls() == ["write"]  # however long ago it was here: only to refuse it, news is needed
    door.submits(100)
    door.calls()
    assert door.submits(100) == 0
    assert door.calls() == []


def test_processes_that_know_nothing_of_each_other_share_one_bucket() -> None:
    door = Door()
    processes = [door.process() for _ in range(5)]
    assert sum(door.submits(by=processes[number % 5]) for number in range(80)) == 50


def test_nobody_is_refused_by_news_of_yesterday() -> None:
    """Another process learned that the limits were raised, and the bucket is another one."""
    door = Door(terms=replace(TERMS, requests_per_second=1, burst=1))
    assert door.submits(2) == 1
    door.waits(REFUSED_BY.total_seconds() / 2)
    door.rows.write(put(standing_key("acme"), {"tenant": "acme", "full_at": 0, "counted_at": 0, "accepted": 0}))
    assert door.submits() == 0
    door.waits(REFUSED_BY.total_seconds() / 2)
    assert door.submits() == 1


def test_what_a_tenant_may_is_its_own_before_it_is_the_stages() -> None:
    door = Door()
    door.rows.write(put(limits_key("acme"), {"burst": 7, "requests_per_second": 1, "caps": {}}))
    door.rows.write(put(limits_key("globex"), {"open_jobs": 2, "caps": {}}))
    assert door.submits(100) == 7
    assert door.submits(100, tenant="globex") == 2
    assert door.submits(100, tenant="initech") == 50


def test_nobody_is_refused_by_the_count_before_the_last_one() -> None:
    door = Door()
    door.counts({"acme": 100})
    assert door.submits() == 0
    door.waits(2)
    door.counts({"acme": 20})
    assert door.submits() == 1


def test_open_jobs_are_those_counted_and_those_accepted_since() -> None:
    door = Door()
    door.counts({"acme": 80})
    assert door.submits(30) == 20
    refusal = door.refused()
    assert isinstance(refusal, TooManyOpen)
    assert "100 open jobs" in refusal.detail
    assert refusal.seconds == 20  # the next count: one has to end, which takes 10 s
    door.waits(10)
    door.counts({"acme": 95})
    assert door.submits(30) == 5


def test_who_is_far_above_its_open_jobs_waits_until_that_many_have_ended() -> None:
    door = Door()
    door.counts({"acme": 114})
    refusal = door.refused()
    assert refusal is not None
    assert refusal.seconds == 15 * 30 / 3  # fifteen jobs of 30 s in three slots
    door.rows.write(put(limits_key("globex"), {"caps": {"interactive": 30}}))
    door.counts({"globex": 10**6})
    door.waits(COUNT_EVERY.total_seconds())
    refusal = door.refused("globex")
    assert refusal is not None
    assert refusal.seconds == LONGEST_WAIT_SECONDS


def test_the_tally_goes_on_in_all_processes_and_begins_anew_with_a_count() -> None:
    door = Door(terms=replace(TERMS, burst=1000))
    old, new = door.process(), door.process()
    door.counts({"acme": 60})
    assert door.submits(20, by=old) == 20
    door.waits(5)
    door.counts({"acme": 80})
    assert door.submits(5, by=new) == 5  # knows the new count: 80 + 5
    assert door.submits(20, by=old) == 20  # knows 60, and the newer tally
    assert door.submits(100, by=new) == 0
    assert door.rows.rows[standing_key("acme")]["accepted"] == 25


def test_two_at_once_do_not_both_take_the_last_place() -> None:
    door = Door()
    first, second = door.process(), door.process()
    door.counts({"acme": 97})
    assert [door.submits(by=first), door.submits(by=second)] == [1, 1]
    assert [door.submits(by=first), door.submits(by=second)] == [1, 0]


def test_a_count_that_nobody_renews_refuses_nobody() -> None:
    door = Door()
    door.counts({"acme": 5000}, backlog=10**6)
    assert door.submits(tenant="acme") == door.submits(tenant="globex") == 0
    door.waits(BELIEVED_FOR.total_seconds())
    assert door.submits(tenant="acme") == door.submits(tenant="globex") == 1


def test_above_the_line_those_are_refused_first_who_have_more_than_they_can_have_in_flight() -> None:
    door = Door()
    door.counts({"acme": 4, "globex": 3}, backlog=89)
    assert door.submits() == door.submits(tenant="globex") == 1
    door.waits(COUNT_EVERY.total_seconds())
    door.counts({"acme": 4, "globex": 3, "initech": 1}, backlog=90)
    refusal = door.refused("acme")
    assert isinstance(refusal, LaneFull)
    assert "15 min" in refusal.detail
    assert door.submits(tenant="globex") == 1
    assert door.submits(tenant="globex") == 0  # its fourth: the count is older than the third
    assert door.submits(9, tenant="initech") == 3
    assert door.submits(tenant="acme", lane="bulk") == 1  # has no line
    door.waits(COUNT_EVERY.total_seconds())
    door.counts({}, backlog=180)
    refusal = door.refused("newcomer")
    assert isinstance(refusal, LaneFull)
    assert "30 min" in refusal.detail


@pytest.mark.parametrize(("backlog", "wait"), [(90, 20), (94, 50), (99, 100), (500, LONGEST_WAIT_SECONDS)])
def test_a_full_lane_is_worth_another_try_when_it_is_drained_below_the_line_and_counted(
    backlog: int, wait: int
) -> None:
    """It drains 90 jobs in 900 s."""
    door = Door()
    door.counts({"acme": 9}, backlog=backlog)
    refusal = door.refused()
    assert refusal is not None
    assert refusal.seconds == wait


def test_the_rate_is_looked_at_first_then_the_open_jobs_then_the_lane() -> None:
    door = Door(terms=replace(TERMS, burst=1))
    assert door.submits() == 1
    door.waits(COUNT_EVERY.total_seconds())
    door.counts({"acme": 100}, backlog=1000)
    door.rows.write(
        put(standing_key("acme"), {"full_at": round((door.now + timedelta(seconds=5)).timestamp() * 10**6)})
    )
    door.admissions = door.process()
    assert isinstance(door.refused(), TooFast)
    door.waits(5)
    assert isinstance(door.refused(), TooManyOpen)
    door.counts({"acme": 99}, backlog=1000)
    door.waits(COUNT_EVERY.total_seconds())
    assert isinstance(door.refused(), LaneFull)


def test_a_job_that_is_tried_again_is_let_into_a_full_lane_but_not_past_the_other_limits() -> None:
    door = Door()
    door.counts({"acme": 98}, backlog=10**6)
    for _ in range(2):
        door.admissions.retry(a_job(), door.now)
    with pytest.raises(TooManyOpen):
        door.admissions.retry(a_job(), door.now)


def test_a_refusal_takes_no_token() -> None:
    door = Door()
    door.counts({"acme": 100})
    door.submits(500)
    assert standing_key("acme") not in door.rows.rows


@pytest.mark.parametrize("trouble", [{"before": 1}, {"after": 1}, {"reads": 3}])
def test_if_it_cannot_be_known_the_job_is_let_in_and_somebody_is_told(trouble: dict[str, int]) -> None:
    door = Door(terms=replace(TERMS, burst=1))
    for name, times in trouble.items():
        setattr(door.store, name, times)
    assert door.submits() == 1
    assert [tenant for tenant, _ in door.unsure] == ["acme"]


def test_a_call_that_is_repeated_since_its_answer_was_lost_takes_two_tokens_at_most() -> None:
    rows = MemoryStore()
    door = Door(rows=rows)
    repeating = KnownLimits(rows, Caps()), KnownLoad(rows)
    process = Admissions(RepeatingStore(under=rows), *repeating, TERMS, lambda *_: None)
    assert door.submits(60, by=process) == 24  # the first of them, which made the item, took three
