"""History: everything that happened, in its order, and once."""

from typing import Any

from coatcheck.history import history
from coatcheck.job import job_of
from tests.simulation.laws import Found, law
from tests.simulation.seed import Run, job_rows
from tests.simulation.table import Change


@law
def history_is_complete_in_order_and_once(run: Run) -> Found:
    (recorder,) = (each for each in run.world.consumers if each.function == "recorder")
    lost = {(change.key.id, change.new["attempt"], change.new["state"]) for change in recorder.lost if _moves(change)}
    happened: dict[str, list[tuple[object, object]]] = {}
    for change in run.world.changes:
        if _moves(change):
            happened.setdefault(change.key.id, []).append((change.new["attempt"], change.new["state"]))
    for row in job_rows(run.world):
        job_id = str(row["id"])
        document: Any = history(run.world.table, job_of(row))
        told = [(each["attempt"], each["state"]) for each in document["items"] if "act" not in each]
        wanted = [
            moved
            for moved in happened[job_id]
            if (job_id, *moved) not in lost or moved in told  # kept in the bucket, and perhaps handed on all the same
        ]
        if told != wanted:
            yield job_id, f"its history tells {told}, and what happened is {wanted}"


def _moves(change: Change) -> bool:
    return change.old is None or change.old["state"] != change.new["state"]
