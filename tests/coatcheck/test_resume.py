"""The end of a pause: whoever waited is woken once, however late the mark and whoever walks."""

from datetime import datetime

from hypothesis import given

from coatcheck.hold import park_write
from coatcheck.job import Job, State
from coatcheck.next_step import (
    Send,
    StepAside,
)
from coatcheck.ring import Bell, ring
from coatcheck.run.known_pauses import KnownPauses
from coatcheck.supervisor import FORGET_AFTER, wake_resumed
from tests.coatcheck.holds import HOLD, MARK, NO_MARK, Counter, at, mark
from tests.coatcheck.rows import (
    JOB_ID,
    NOW,
    TIMINGS,
    a_job,
    seconds,
    stored,
)
from tests.coatcheck.test_next_step import around_now, jobs


def test_a_job_that_was_resumed_is_sent_by_the_walk_and_its_mark_is_gone() -> None:
    counter = at(a_job())
    counter.ring()
    counter.resume()
    assert counter.walk() == {"Send": 1}
    assert (mark(counter.job), counter.job.sent, counter.sent) == (NO_MARK, 1, [1])
    assert counter.walk() == {}


def test_a_mark_that_lands_after_the_resume_is_still_found() -> None:
    counter = at(a_job())
    late = park_write(counter.job, HOLD, NOW, TIMINGS)
    counter.resume()
    assert counter.walk(NOW + seconds(1)) == {}
    counter.store.write(late)
    assert counter.walk(NOW + FORGET_AFTER) == {"Send": 1}
    assert counter.walk(NOW + FORGET_AFTER) == {}
    assert counter.sent == [1]


def test_a_mark_that_outlives_the_memory_of_the_resume_is_found_when_it_is_due() -> None:
    counter = at(a_job())
    late = park_write(counter.job, HOLD, NOW, TIMINGS)
    counter.resume()
    counter.walk(NOW + FORGET_AFTER)
    counter.store.write(late)
    assert counter.walk(NOW + FORGET_AFTER) == {}
    assert counter.job.due is not None
    assert counter.ring(counter.job.due) == Send()
    assert mark(counter.job) == NO_MARK


@given(job=jobs(), now=around_now)
def test_whoever_was_marked_is_sent_once_by_the_walk_after_the_resume(job: Job, now: datetime) -> None:
    if job.state is not State.QUEUED:
        return
    counter = at(job)
    for _ in range(4):
        counter.ring(now)
    marked = counter.job.waiting is not None
    counter.resume(now)
    counter.walk(now)
    counter.walk(now)
    assert counter.sent == ([counter.job.attempt] if marked else [])


def many(number: int, **changes: object) -> Counter:
    ids = [f"j_{position:026}" for position in range(number)]
    rows = [
        a_job(id=job_id, root=job_id, **{**MARK, "waits_since": NOW + seconds(number - position)}, **changes)
        for position, job_id in enumerate(ids)
    ]
    counter = Counter(stored(*rows))
    counter.pause()
    counter.resume()
    return counter


def test_all_who_wait_are_woken_over_all_pages_the_longest_waiting_first() -> None:
    counter = many(23)
    counter.store.page_size = 4
    assert counter.walk() == {"Send": 23}
    rung = [bell.job_id for _, bell in counter.queues.rung]
    assert rung == sorted(rung, reverse=True)


def test_a_walk_that_runs_out_of_time_forgets_nobody() -> None:
    counter = many(5)
    late = NOW + FORGET_AFTER
    assert wake_resumed(counter.bell, lambda: late, late) == {}
    ticks = (late + seconds(number) for number in range(99))
    assert wake_resumed(counter.bell, lambda: next(ticks), late + seconds(5)) == {"Send": 3}
    assert counter.walk(late) == {"Send": 2}


def test_a_job_that_cannot_be_rung_is_nobody_elses_trouble() -> None:
    counter = many(5)
    counter.store.rows[a_job(id=f"j_{3:026}").key]["state"] = "of a later version"
    assert counter.walk() == {"Send": 4, "Broken": 1}


def test_a_process_of_its_own_hears_of_the_resume_from_the_item_and_not_from_what_it_knew() -> None:
    counter = at(a_job())
    counter.ring()
    stale = Bell(
        store=counter.store,
        queues=counter.queues,
        objects=counter.bell.objects,
        timings=TIMINGS,
        holding=KnownPauses(counter.store).hold,
        limiting=counter.bell.limiting,
    )
    assert ring(stale, JOB_ID, NOW) == StepAside()
    counter.resume()
    assert wake_resumed(stale, lambda: NOW + seconds(1), NOW + seconds(2)) == {"Send": 1}
