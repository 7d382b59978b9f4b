"""Ticks of schedules: one job each, or one skip; and where there must be no overlap, there is none."""

from collections import Counter, defaultdict
from typing import Any

from coatcheck.write import Key, Table
from tests.simulation.laws import Found, law
from tests.simulation.seed import FINAL, Run, job_rows


@law
def a_tick_is_one_job(run: Run) -> Found:
    made: defaultdict[str, list[str]] = defaultdict(list)
    for row in job_rows(run.world):
        if _by_clock(row):
            made[f"{row['labels']['schedule']} {row['labels']['tick']}"].append(row["id"])
    for tick, ids in made.items():
        if len(ids) > 1:
            yield ids[-1], f"was made of the tick {tick}, as {ids[:-1]} were"


@law
def a_schedule_without_overlap_has_one_open_job(run: Run) -> Found:
    open_jobs: set[str] = set()
    for change in run.world.changes:
        if not _by_clock(change.new, "alone"):
            continue
        if change.new["state"] in FINAL:
            open_jobs.discard(change.key.id)
        elif change.old is None:
            open_jobs.add(change.key.id)
            if len(open_jobs) > 1:
                yield change.key.id, f"is open beside {sorted(open_jobs - {change.key.id})}"


@law
def every_tick_came_to_something_and_every_skip_was_counted(run: Run) -> Found:
    """Ticks are told apart by their schedule and time, not by the key that the product gives them."""
    rows = run.world.table.rows
    made = {(row["labels"]["schedule"], row["labels"]["tick"]) for row in job_rows(run.world) if _by_clock(row)}
    skips: Counter[str] = Counter()
    for tick in {(each.schedule, each.scheduled_time): each for each in run.people.ticks}.values():
        if (tick.schedule, tick.labels["tick"]) in made:
            continue
        if "skipped_for" not in rows.get(tick.key, {}):
            yield "", f"the tick {tick.key.id} of {tick.scheduled_time} came to nothing"
        skips[tick.schedule] += 1
    for name in {each.schedule for each in run.people.ticks}:
        counted = rows.get(Key(table=Table.IDEMPOTENCY, id=f"schedule#{name}"), {}).get("skipped")
        if counted != skips[name]:
            yield "", f"the schedule {name} counts {counted} skips, and {skips[name]} ticks were skipped"


def _by_clock(row: Any, schedule: str | None = None) -> bool:
    """Whether a tick made the job: of that schedule, or of any."""
    labels = row.get("labels", {})
    return "tick" in labels and schedule in (None, labels["schedule"]) and "retry_of" not in row
