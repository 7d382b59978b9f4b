"""Keys: one job of a key, one open job of a natural key, one successor of a job."""

from collections import Counter, defaultdict
from typing import Any

import msgspec

from tests.simulation.laws import Found, law
from tests.simulation.seed import FINAL, Run, job_rows


@law
def a_key_is_one_job(run: Run) -> Found:
    jobs: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for answer in run.world.answers:
        if answer.key is not None and answer.status == 202:
            jobs[answer.tenant, answer.key].add(str(answer.body["id"]))
    for (tenant, key), ids in jobs.items():
        if len(ids) > 1:
            yield min(ids), f"{tenant}'s {key} was answered with {sorted(ids)}"


@law
def a_request_makes_one_job(run: Run) -> Found:
    """Also one that nobody was told of: each keyed request bears a label of its own."""
    made: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in job_rows(run.world):
        if "request" in row.get("labels", {}) and "retry_of" not in row:
            made[row["tenant"], row["labels"]["request"]].append(row["id"])
    for (tenant, label), ids in made.items():
        if len(ids) > 1:
            yield ids[-1], f"was made of request {label} of {tenant}, as {ids[:-1]} were"


@law
def a_natural_key_has_one_open_job(run: Run) -> Found:
    holders: dict[tuple[str, str], set[str]] = {}
    keys: dict[str, tuple[str, str]] = {}
    for change in run.world.changes:
        if change.new["kind"] != "parcel":
            continue
        key = keys.setdefault(change.key.id, (str(change.new["tenant"]), _customer(change.new)))
        holding = holders.setdefault(key, set())
        if change.new["state"] in FINAL:
            holding.discard(change.key.id)
        else:
            holding.add(change.key.id)
            if len(holding) > 1 and change.old is None:
                yield change.key.id, f"{key} has the open jobs {sorted(holding)}"


@law
def a_job_is_tried_again_as_one_job(run: Run) -> Found:
    rows = {str(row["id"]): row for row in job_rows(run.world)}
    heirs = Counter(str(row["retry_of"]) for row in rows.values() if "retry_of" in row)
    for job_id, times in heirs.items():
        if times > 1:
            yield job_id, f"was tried again as {times} jobs"
    for job_id, row in rows.items():
        heir = row.get("retried_as")
        if (heir is not None) != (heirs[job_id] > 0) or (heir is not None and rows[heir].get("retry_of") != job_id):
            yield job_id, f"names {heir} as its successor, and has {heirs[job_id]}"


def _customer(row: Any) -> str:
    return str(msgspec.json.decode(str(row["args"]))["customer"])
