"""Messages: few of a number, none left, and a dead letter for whom one is owed."""

from collections import Counter

import msgspec

from coatcheck.doorbell import DeadLetter
from tests.simulation.laws import Found, law
from tests.simulation.seed import Run, job_rows

OWED_A_LETTER = {"attempts_exhausted", "timed_out", "stalled", "never_started"}
MOST_SENDS = 4


@law
def messages_do_not_multiply(run: Run) -> Found:
    """At most four of one number, and one more for each fault."""
    sends = Counter((doorbell.job_id, doorbell.attempt) for _, _, doorbell in run.world.sent)
    faults = sum(run.world.chaos.struck.values())
    for (job_id, attempt), times in sends.items():
        if times > MOST_SENDS + faults:
            yield job_id, f"the doorbell of attempt {attempt} was rung {times} times, with {faults} faults"


@law
def a_doorbell_names_a_number_that_was_owed(run: Run) -> Found:
    """Nobody but a row causes work to be sent."""
    numbers: dict[str, set[object]] = {}
    for change in run.world.changes:
        if change.new["state"] == "queued":
            numbers.setdefault(change.key.id, set()).add(change.new["attempt"])
    for _, lane, doorbell in run.world.sent:
        if doorbell.attempt not in numbers.get(doorbell.job_id, set()):
            yield doorbell.job_id, f"{lane} was rung for attempt {doorbell.attempt}, which was never owed"


@law
def nothing_is_left_in_flight(run: Run) -> Found:
    for row in job_rows(run.world):
        left = [name for name in ("due", "waiting", "waits_since", "paused_by") if name in row]
        undone = [name for name in ("freed", "told") if not row.get(name)]
        if left or undone:
            yield str(row["id"]), f"is {row['state']} with {', '.join(left) or 'nothing'} left and {undone} undone"
    for queue in run.world.queues.values():
        if queue.name != "dead":
            for message in queue.messages.values():
                yield message.about, f"{queue.name} still holds {message.body}"


@law
def dead_letters_are_exactly_of_those_that_are_owed_one(run: Run) -> Found:
    sent = {message.about for message in run.world.queues["dead"].messages.values()}
    for row in job_rows(run.world):
        error = row.get("error")
        owed = row["state"] == "failed" and isinstance(error, dict) and error["type"] in OWED_A_LETTER
        if owed != (row["id"] in sent):
            yield str(row["id"]), f"is {row['state']} ({error}), and a dead letter {'lacks' if owed else 'was sent'}"
    rows = {row["id"]: row for row in job_rows(run.world)}
    for message in run.world.queues["dead"].messages.values():
        letter = msgspec.json.decode(message.body.encode(), type=DeadLetter)
        row = rows.get(letter.job_id, {})
        if (letter.attempt, letter.failures) != (row.get("attempt"), row.get("failures")):
            yield letter.job_id, f"its dead letter says attempt {letter.attempt} and {letter.failures} failures"
