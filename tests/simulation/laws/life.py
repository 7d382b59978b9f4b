"""The life of a job: it ends, in one way, and moves only as it may."""

from collections import Counter

from tests.simulation.lambdas import Invocation
from tests.simulation.laws import Found, law
from tests.simulation.scheduler import EPOCH
from tests.simulation.seed import FINAL, MOST_STEPS, Run, job_rows

MOVES = {
    ("queued", "running"),
    ("queued", "cancelled"),
    ("queued", "failed"),
    ("running", "succeeded"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("running", "queued"),
    ("running", "retrying"),
    ("running", "cancelling"),
    ("retrying", "queued"),
    ("retrying", "cancelled"),
    ("cancelling", "succeeded"),
    ("cancelling", "failed"),
    ("cancelling", "cancelled"),
}
"""The table of states (docs/architecture.md), written down a second time on purpose."""

BEGAN = round(EPOCH.timestamp() * 1000)
OWNED = ("running", "cancelling")
MARKS_OF_THE_END = {"freed", "told", "due", "wrote", "retried_as"}


@law
def accepted_jobs_reach_a_final_state(run: Run) -> Found:
    for answer in run.world.answers:
        job_id = str(answer.body.get("id"))
        if answer.status == 202 and answer.request.startswith("POST") and not _states(run, job_id):
            yield job_id, "was accepted, and there is no such row"
    for row in job_rows(run.world):
        if row["state"] not in FINAL:
            yield str(row["id"]), f"is still {row['state']} after {run.world.now // 60_000} minutes"


@law
def the_world_comes_to_rest(run: Run) -> Found:
    if run.steps > MOST_STEPS or not run.at_rest():
        yield "", f"after {run.steps} steps and {run.world.now // 60_000} minutes something is still going on"


@law
def a_final_state_never_changes(run: Run) -> Found:
    for change in run.world.changes:
        if change.old is not None and change.old["state"] in FINAL:
            names = {*change.old, *change.new} - MARKS_OF_THE_END
            changed = sorted(name for name in names if change.old.get(name) != change.new.get(name))
            if changed:
                yield change.key.id, f"was final, and {', '.join(changed)} changed"


@law
def jobs_move_only_as_the_table_allows(run: Run) -> Found:
    for change in run.world.changes:
        before = None if change.old is None else str(change.old["state"])
        after = str(change.new["state"])
        if before is None and after != "queued":
            yield change.key.id, f"began as {after}"
        if before not in (None, after) and (before, after) not in MOVES:
            yield change.key.id, f"moved from {before} to {after}"


@law
def failures_count_failures_only(run: Run) -> Found:
    for change in run.world.changes:
        if change.old is None:
            continue
        added = int(str(change.new["failures"])) - int(str(change.old["failures"]))
        owed = _charge(str(change.old["state"]), str(change.new["state"]), taken="owner" not in change.new)
        if added != owed:
            yield change.key.id, f"{change.old['state']} → {change.new['state']} added {added} failures, not {owed}"


def _charge(before: str, after: str, *, taken: bool) -> int:
    """A failed attempt and a dead worker count; a yield, a snooze, a pause, a cancellation do not."""
    match before, after:
        case ("running", "retrying" | "failed") | ("cancelling", "failed"):
            return 1
        case ("running", "queued"):
            return 1 if taken else 0
    return 0


@law
def a_budget_is_spent_to_the_end_and_not_beyond(run: Run) -> Found:
    for change in run.world.changes:
        new = change.new
        failures, most = int(str(new["failures"])), int(str(new["max_failures"]))
        error = new.get("error")
        exhausted = isinstance(error, dict) and error.get("type") in ("attempts_exhausted", "stalled")
        if failures > most or (new["state"] not in FINAL and failures >= most):
            yield change.key.id, f"is {new['state']} with {failures} of {most} failures"
        if new["state"] == "failed" and exhausted and failures < most:
            yield change.key.id, f"failed for its budget with {failures} of {most} failures"


@law
def only_a_worker_that_was_in_trouble_is_charged_as_dead(run: Run) -> Found:
    claims: dict[tuple[str, object], object] = {}
    for change in run.world.changes:
        if change.old is None:
            continue
        before, after = change.old["state"], change.new["state"]
        if (before, after) == ("queued", "running"):
            claims[change.key.id, change.new["attempt"]] = change.by
        taken = before in OWNED and "owner" not in change.new and "owner" in change.old
        if taken and change.at < run.world.jumped_at:
            worker = claims.get((change.key.id, change.old["attempt"]))
            if isinstance(worker, Invocation) and not worker.troubles and not worker.killed:
                yield change.key.id, f"was taken from {worker}, whom nothing had befallen"


@law
def each_number_is_claimed_at_most_once(run: Run) -> Found:
    claims = Counter(
        (change.key.id, change.new["attempt"])
        for change in run.world.changes
        if change.old is not None and change.old["state"] == "queued" and change.new["state"] == "running"
    )
    for (job_id, attempt), times in claims.items():
        if times > 1:
            yield job_id, f"attempt {attempt} was claimed {times} times"


@law
def a_number_is_raised_by_whatever_leaves_running_and_never_lowered(run: Run) -> Found:
    for change in run.world.changes:
        if change.old is None:
            continue
        raised = int(str(change.new["attempt"])) - int(str(change.old["attempt"]))
        leaves = change.old["state"] == "running" and change.new["state"] in ("queued", "retrying")
        if raised not in (0, 1) or (leaves and raised != 1):
            yield change.key.id, f"{change.old['state']} → {change.new['state']} raised the number by {raised}"


@law
def nothing_happens_that_no_rule_provides_for(run: Run) -> Found:
    for surprise in run.world.surprises:
        yield surprise.about, surprise.text


def _states(run: Run, job_id: str) -> list[object]:
    return [change.new["state"] for change in run.world.changes if change.key.id == job_id]


@law
def a_wait_is_waited_for(run: Run) -> Found:
    """By the clocks that there are: two may be apart, and one may have jumped."""
    apart = 2 * run.world.stage.skew + 1
    for change in run.world.changes:
        if change.old is None or change.at >= run.world.jumped_at:
            continue
        before, after = change.old["state"], change.new["state"]
        name = {("retrying", "queued"): "retry_at", ("queued", "running"): "run_at"}.get((str(before), str(after)), "")
        until = change.old.get(name)
        if isinstance(until, int) and change.at < until - BEGAN - apart:
            yield change.key.id, f"came from {before} to {after} {until - BEGAN - change.at} ms before its {name}"
