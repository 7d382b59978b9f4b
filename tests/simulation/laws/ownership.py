"""Who owns a job: one attempt at a time, and whoever has lost it can write nothing."""

from collections import Counter

from coatcheck.row import Row
from tests.simulation.lambdas import Invocation
from tests.simulation.laws import Found, law
from tests.simulation.laws.life import OWNED
from tests.simulation.seed import FINAL, Run
from tests.simulation.table import Change

CURSOR = ("cursor", "cursor_key")


def _workers(change: Change) -> Invocation | None:
    """The invocation that wrote, if it is the worker of an attempt at this very job, after its claim."""
    author = change.by
    if change.old is None or not isinstance(author, Invocation) or author.claimed is None:
        return None
    claims = change.old["state"] == "queued" and change.new["state"] == "running"
    return author if author.claimed[0] == change.key.id and not claims else None


def _owns(row: Row, worker: Invocation) -> bool:
    return worker.claimed is not None and worker.claimed[1:] == (row["attempt"], row.get("owner"))


@law
def no_write_of_a_zombie_lands(run: Run) -> Found:
    for change in run.world.changes:
        worker = _workers(change)
        if worker is None or change.old is None:
            continue
        if change.old["state"] not in OWNED or not _owns(change.old, worker):
            yield change.key.id, f"{worker} wrote what was no longer its own, {change.old['state']}"


@law
def no_late_packet_undoes_a_newer_one(run: Run) -> Found:
    for change in run.world.changes:
        if _workers(change) is None or change.old is None:
            continue
        before, after = int(str(change.old["seq"])), int(str(change.new["seq"]))
        if after <= before:
            yield change.key.id, f"number {after} landed after number {before}"


@law
def no_two_attempts_both_commit(run: Run) -> Found:
    settled: Counter[tuple[str, object]] = Counter()
    final: Counter[str] = Counter()
    for change in run.world.changes:
        if change.old is None:
            continue
        before, after = change.old["state"], change.new["state"]
        if before in OWNED and after not in OWNED:
            settled[change.key.id, change.old["attempt"]] += 1
        if before not in FINAL and after in FINAL:
            final[change.key.id] += 1
    for (job_id, attempt), times in settled.items():
        if times > 1:
            yield job_id, f"attempt {attempt} ended {times} times"
    for job_id, times in final.items():
        if times > 1:
            yield job_id, f"ended {times} times"


@law
def an_owner_keeps_its_lease_by_beats_alone(run: Run) -> Found:
    """A row says that somebody has it exactly as long as somebody has it. A checkpoint that renewed the row's lease and
    not the message's would bring the doorbell back too early, to be acknowledged."""
    for change in run.world.changes:
        owned = change.new["state"] in OWNED
        if owned != ("lease_until" in change.new):
            yield change.key.id, f"is {change.new['state']} {'without' if owned else 'with'} a lease"
        saves = change.old is not None and any(change.old.get(name) != change.new.get(name) for name in CURSOR)
        if (
            saves
            and change.old is not None
            and change.old.get("lease_until") != change.new.get("lease_until")
            and owned
        ):
            yield change.key.id, "renewed its lease by a checkpoint"


@law
def progress_never_goes_back(run: Run) -> Found:
    for change in run.world.changes:
        if change.old is None:
            continue
        before, after = change.old.get("progress"), change.new.get("progress")
        if isinstance(before, dict) and isinstance(after, dict):
            done, now_done = before.get("done", 0), after.get("done", 0)
            if isinstance(done, int) and isinstance(now_done, int) and now_done < done:
                yield change.key.id, f"was at {done} and is at {now_done}"
