"""The operators' function: what they do about dead letters, and that it is written down."""

from typing import Any

import msgspec
import pytest

from coatcheck.job import State
from handlers import operator
from tests.coatcheck.cloud import Cloud
from tests.handlers.events import LambdaContext
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now

BY = "arn:aws:iam::123456789012:user/example"


def operated(act: str, *job_ids: str) -> list[dict[str, Any]]:
    answer: Any = operator.handler({"act": act, "job_ids": list(job_ids), "by": BY}, LambdaContext())
    return list(answer["jobs"])


def history(aws: Cloud, job_id: str) -> list[dict[str, Any]]:
    found = aws.dynamodb.query(
        TableName="jobs",
        KeyConditionExpression="id = :id AND begins_with(#item, :history)",
        ExpressionAttributeNames={"#item": "item"},
        ExpressionAttributeValues={":id": {"S": job_id}, ":history": {"S": "history#"}},
    )
    return [{name: next(iter(value.values())) for name, value in item.items()} for item in found["Items"]]


def test_jobs_are_tried_again_and_it_is_said_of_each_what_became_of_it(aws: Cloud) -> None:
    going_on = add_job(state=State.FAILED, finished_at=now(), cursor='{"done":7}')
    running, unknown = add_job(state=State.RUNNING), new_id()
    first, second, third = operated("redrive", going_on.id, running.id, unknown)
    assert (first["id"], first["retried_as"]) == (going_on.id, job_in_table(going_on.id).retried_as)
    assert "running" in second["refused"]
    assert (third["id"], third["refused"]) == (unknown, "there is no such job")
    (noted,) = history(aws, going_on.id)
    assert (noted["by"], noted["act"], noted["detail"]) == (BY, "redriven", first["retried_as"])


def test_it_is_said_whether_a_job_starts_at_zero(aws: Cloud) -> None:
    cancelled = add_job(state=State.CANCELLED, finished_at=now(), cursor='{"done":7}')
    (answer,) = operated("redrive", cancelled.id)
    assert "resumes_at" not in answer
    failed = add_job(state=State.FAILED, finished_at=now(), cursor='{"done":7}')
    (answer,) = operated("redrive", failed.id)
    assert answer["resumes_at"] == "0"  # it saved a checkpoint, and told of no progress


def test_who_threw_a_dead_letter_away_is_in_the_jobs_history(aws: Cloud) -> None:
    job = add_job(state=State.FAILED)
    assert operated("purged", job.id) == [{"id": job.id}]
    (noted,) = history(aws, job.id)
    assert (noted["by"], noted["act"]) == (BY, "purged")


def test_whoever_is_on_call_sees_a_job_and_its_history_whosever_it_is(aws: Cloud) -> None:
    job = add_job(state=State.FAILED, finished_at=now(), tenant="globex")
    (known,) = operated("look", job.id)
    assert (known["job"]["id"], known["job"]["tenant"], known["job"]["state"]) == (job.id, "globex", "failed")
    assert [each["state"] for each in known["history"]] == ["queued", "failed"]


def test_an_act_that_is_not_known_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="act"):
        operator.handler({"act": "explode", "job_ids": [], "by": BY}, LambdaContext())
