"""The recorder: every record is written down once, and none blocks its shard or is lost without a word."""

import json
from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.aws.attributes import attributes
from coatcheck.job import Job, State, row_of
from coatcheck.write import put
from handlers import cancel, dispatcher, ports, recorder, status, wake
from tests.coatcheck.cloud import BUSY, Cloud, troubled, watched
from tests.handlers.chain import Chain
from tests.handlers.events import LambdaContext, body_of, failed_items, http_event, message, sqs_event, stream_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id
from tests.handlers.test_chain import let_the_wait_be_over, submitted

pytestmark = pytest.mark.usefixtures("empty_queues")


def records(*changes: tuple[Job, Job]) -> dict[str, Any]:
    event = stream_event(*(new.id for _, new in changes))
    for record, (old, new) in zip(event["Records"], changes, strict=True):
        key = {"item": {"S": "job"}}
        record["dynamodb"] |= {
            "OldImage": attributes(row_of(old)) | key,
            "NewImage": attributes(row_of(new)) | key,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        }
    return event


def recorded(event: dict[str, Any]) -> list[str]:
    return failed_items(recorder.handler(event, LambdaContext()))


def history(job_id: str) -> list[dict[str, Any]]:
    answer = status.handler(http_event("GET /v1/jobs/{id}/history", path={"id": job_id}), LambdaContext())
    assert answer["statusCode"] == 200
    return list(body_of(answer)["items"])


def states(job_id: str) -> list[tuple[str, int]]:
    return [(entry["state"], entry["attempt"]) for entry in history(job_id)]


def claimed(job: Job, **changes: Any) -> Job:
    return Job(**{**vars(job), "state": State.RUNNING, "owner": "owner-1", **changes})


def test_a_job_that_fails_twice_tells_its_whole_way(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({"fail_times": 2})
    for _ in range(2):
        chain.run()
        let_the_wait_be_over(job_id)
    chain.run()
    assert states(job_id) == [
        ("queued", 1), ("running", 1), ("retrying", 2), ("queued", 2), ("running", 2),
        ("retrying", 3), ("queued", 3), ("running", 3), ("succeeded", 3),
    ]  # fmt: skip
    told = history(job_id)
    assert [entry["at"] for entry in told] == sorted(entry["at"] for entry in told)
    assert [entry.get("error", {}).get("type") for entry in told if entry["state"] == "retrying"] == [
        "TransientFault"
    ] * 2
    assert [entry.get("cause") for entry in told if entry["state"] == "queued"] == [None, "retry_due", "retry_due"]


def test_a_batch_that_is_replayed_and_out_of_order_is_written_down_once(aws: Cloud) -> None:
    job = add_job()
    running = claimed(job)
    again = Job(**{**vars(running), "state": State.QUEUED, "attempt": 2})
    changes = [(job, running), (running, again), (again, claimed(again))]
    for event in (records(*reversed(changes)), records(*changes, *changes), records(changes[1])):
        assert recorded(event) == []
    assert states(job.id) == [("queued", 1), ("running", 1), ("queued", 2), ("running", 2)]
    assert history(job.id)[2]["cause"] == "yielded"


def test_an_end_is_told_and_leaves_the_row_due_until_it_is_freed(aws: Cloud) -> None:
    job = add_job(state=State.SUCCEEDED)
    assert recorded(records((claimed(job), job))) == []
    row = job_in_table(job.id)
    assert (row.told, row.freed, row.due is None) == (True, False, False)
    assert states(job.id) == [("queued", 1), ("succeeded", 1)]


def test_who_cancelled_is_told_whether_the_job_waited_or_ran(aws: Cloud) -> None:
    chain = Chain(aws)
    waiting = submitted({})
    running = add_job()
    ports.jobs().write(put(running.key, row_of(claimed(running, lease_until=running.created_at))))
    for job_id in (waiting, running.id):
        event = http_event(
            "DELETE /v1/jobs/{id}", path={"id": job_id}, authorizer={"tenant": "acme", "name": "key …9f"}
        )
        assert cancel.handler(event, LambdaContext())["statusCode"] in (200, 202)
    chain.record()
    assert [(entry["state"], entry.get("by")) for entry in history(waiting)] == [
        ("queued", "key …abcd"), ("cancelled", "key …9f"),
    ]  # fmt: skip
    assert history(running.id)[-1]["by"] == "key …9f"


def test_another_tenants_history_is_as_unknown_as_its_job() -> None:
    job = add_job(tenant="globex")
    event = http_event("GET /v1/jobs/{id}/history", path={"id": job.id})
    assert status.handler(event, LambdaContext())["statusCode"] == 404


def test_an_entry_that_the_table_does_not_take_now_is_handed_to_the_wake_queue_which_writes_it_down(aws: Cloud) -> None:
    job = add_job()
    with troubled(clients.dynamodb(), BUSY), watched(clients.sqs(), "SendMessage") as sent:
        assert recorded(records((job, claimed(job)))) == []
    (params,) = sent
    assert params["DelaySeconds"] == 5
    assert states(job.id) == [("queued", 1)]
    handed = message(params["MessageBody"])
    assert failed_items(wake.handler(sqs_event(handed, handed), LambdaContext())) == []
    assert states(job.id) == [("queued", 1), ("running", 1)]


def test_an_entry_that_the_table_still_does_not_take_stays_in_the_wake_queue() -> None:
    job = add_job()
    with troubled(clients.dynamodb(), BUSY), watched(clients.sqs(), "SendMessage") as sent:
        recorded(records((job, claimed(job))))
    handed = message(sent[0]["MessageBody"])
    with troubled(clients.dynamodb(), BUSY):
        assert failed_items(wake.handler(sqs_event(handed), LambdaContext())) == [handed["MessageId"]]


def test_an_end_that_cannot_be_told_now_is_handed_on_by_its_jobs_id() -> None:
    job = add_job(state=State.SUCCEEDED)
    with troubled(clients.dynamodb(), BUSY), watched(clients.sqs(), "SendMessage") as sent:
        assert recorded(records((claimed(job), job))) == []
    assert [json.loads(params["MessageBody"]) for params in sent] == [{"job_id": job.id}]
    assert not job_in_table(job.id).told


def test_a_record_that_cannot_be_read_or_handed_on_is_reported_and_the_others_are_written_down() -> None:
    broken, lost, good = add_job(), add_job(), add_job()
    poison = records((broken, claimed(broken)))
    poison["Records"][0]["dynamodb"]["NewImage"]["state"] = {"S": "of a later version"}
    stuck = records((lost, claimed(lost)))
    assert recorded({"Records": poison["Records"] + records((good, claimed(good)))["Records"]}) == [
        poison["Records"][0]["dynamodb"]["SequenceNumber"]
    ]
    assert states(good.id) == [("queued", 1), ("running", 1)]
    with troubled(clients.dynamodb(), BUSY), troubled(clients.sqs(), BUSY):
        assert recorded(stuck) == [stuck["Records"][0]["dynamodb"]["SequenceNumber"]]


def test_a_job_that_is_gone_leaves_no_row_behind_when_its_end_is_told() -> None:
    gone = add_job(id=new_id(), state=State.SUCCEEDED)
    clients.dynamodb().delete_item(TableName="jobs", Key={"id": {"S": gone.id}, "item": {"S": "job"}})
    assert recorded(records((claimed(gone), gone))) == []
    assert ports.jobs().get(gone.key) is None


def test_a_late_record_of_a_start_does_not_make_a_finished_job_run_again(aws: Cloud) -> None:
    chain = Chain(aws)
    job_id = submitted({})
    chain.run()
    done, told = job_in_table(job_id), history(job_id)
    queued = Job(**{**vars(done), "state": State.QUEUED, "started_at": None, "finished_at": None})
    late = records((queued, claimed(queued, updated_at=done.started_at, lease_until=done.updated_at)))
    for _ in range(2):
        assert recorded(late) == []
        assert failed_items(dispatcher.handler(late, LambdaContext())) == []
    assert (job_in_table(job_id), history(job_id)) == (done, told)
    assert told[-1]["state"] == "succeeded"
    event = http_event("GET /v1/jobs/{id}", path={"id": job_id})
    assert body_of(status.handler(event, LambdaContext()))["state"] == "succeeded"
    assert aws.received("interactive") == []
