"""What clients are told: it is so, and stays so."""

from tests.simulation.laws import Found, law
from tests.simulation.seed import FINAL, Run, job_rows


@law
def a_client_that_saw_the_end_sees_no_other(run: Run) -> Found:
    ends: dict[str, str] = {}
    for answer in run.world.answers:
        job_id, state = str(answer.body.get("id")), str(answer.body.get("state"))
        if job_id in ends and state in (*FINAL, "running", "queued", "retrying") and ends[job_id] != state:
            yield job_id, f"was told as {ends[job_id]}, and then as {state}"
        if state in FINAL:
            ends[job_id] = state


@law
def what_a_cancellation_answers_comes_true(run: Run) -> Found:
    states = {str(row["id"]): str(row["state"]) for row in job_rows(run.world)}
    for answer in run.world.answers:
        job_id = str(answer.body.get("id"))
        if answer.request.startswith("DELETE") and answer.status == 200 and states[job_id] != "cancelled":
            yield job_id, f"was cancelled, as the client was told, and is {states[job_id]}"


@law
def no_request_breaks_a_function(run: Run) -> Found:
    for answer in run.world.answers:
        if answer.status == 500 or answer.status not in (200, 202, 303, 409, 410, 422, 429, 503):
            asked = next((part for part in answer.request.split("/") if part.startswith("j_")), "")
            yield asked, f"{answer.request} was answered {answer.status} {answer.body}"


@law
def whoever_has_a_ticket_has_a_job(run: Run) -> Found:
    jobs = {change.key.id for change in run.world.changes}
    for answer in run.world.answers:
        if answer.request.startswith("POST") and answer.status == 202 and answer.body["id"] not in jobs:
            yield str(answer.body["id"]), "is what a client was told of, and no job"


@law
def what_was_accepted_is_not_refused_when_it_comes_again(run: Run) -> Found:
    accepted: dict[tuple[str, str | None], str] = {}
    for answer in run.world.answers:
        asked = answer.tenant, answer.key or answer.request
        if answer.key is None and not answer.request.endswith("/retry"):
            continue
        if answer.status == 202:
            accepted[asked] = str(answer.body["id"])
        elif answer.status == 429 and asked in accepted:
            yield accepted[asked], f"was accepted, and then refused: {answer.body['title']}"
