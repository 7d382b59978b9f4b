"""What jobs leave: the winner's result whole, and nothing of the cancelled."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from coatcheck.context import output_prefix
from coatcheck.row import moment
from tests.simulation.laws import Found, law
from tests.simulation.moves import block
from tests.simulation.scheduler import EPOCH
from tests.simulation.seed import Run, job_rows


@law
def a_result_is_whole_and_the_winners(run: Run) -> Found:
    bucket = run.world.bucket
    for row in job_rows(run.world):
        if row["state"] != "succeeded" or row["kind"] != "parcel":
            continue
        result: Any = row.get("result") or {}
        data = bucket.contents.get(result.get("key", ""))
        args = msgspec.json.decode(row["args"])
        whole = b"".join(block(args["customer"], number) for number in range(args["parts"]))
        about = bucket.head(result.get("key", "-"))
        if data != whole or about is None or about.version != result.get("version") or result["bytes"] != len(whole):
            yield str(row["id"]), f"has the result {result}, and the bucket has {data!r} ({about}), not {whole!r}"


@law
def a_result_is_the_successful_ones_alone(run: Run) -> Found:
    for change in run.world.changes:
        if ("result" in change.new) != (change.new["state"] == "succeeded"):
            yield change.key.id, f"is {change.new['state']} and has the result {change.new.get('result')}"


@law
def the_cancelled_leave_no_output(run: Run) -> Found:
    """But for what the bucket's lifecycle ends: what a zombie wrote after the end, or what was written before it where
    the clock of whoever ended the job had been set back by more than clocks may be apart."""
    bucket = run.world.bucket
    apart = run.world.timings.clocks_apart
    ends: dict[str, datetime] = {}
    for change in run.world.changes:
        if change.new["state"] == "cancelled":
            said: Any = change.new["finished_at"]
            ends.setdefault(change.key.id, min(EPOCH + timedelta(milliseconds=change.at), moment(said) + apart))
    for row in job_rows(run.world):
        if row["state"] != "cancelled" or "retried_as" in row:
            continue
        prefix = output_prefix(row["tenant"], row["root"])
        begun = [each.begun_at for each in bucket.uploads.values() if each.key.startswith(prefix)]
        stored = [at for key, at in bucket._stored_at.items() if key.startswith(prefix)]
        left = [at for at in begun + stored if at <= ends[str(row["id"])]]
        if left:
            yield str(row["id"]), f"was cancelled, and what was written at {left} is still there"
