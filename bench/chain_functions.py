"""The functions of a chain without rules: they make the AWS calls that a job of the platform makes, and decide nothing.

Deployed as they are, beside the platform, in the same local stack. With CALLS=bare each makes only the call without
which the next one would not run. Like the platform's they log a line for each job: the emulator waits for the output of
an invocation that has none.
"""

import json
import os
import time
import uuid
from collections.abc import Mapping
from typing import Any

import boto3

DYNAMODB, SQS = boto3.client("dynamodb"), boto3.client("sqs")
TABLE, QUEUE = os.environ["TABLE"], os.environ["QUEUE"]
BARE = os.environ["CALLS"] == "bare"
Event = Mapping[str, Any]


def submit(event: Event, context: object) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    job_id = uuid.uuid4().hex
    row = {"args": event["body"], "state": "queued", "wrote": "transition", "created_at": str(time.time())}
    if BARE:
        DYNAMODB.put_item(TableName=TABLE, Item=_item(job_id, "job", row))
    else:
        _update("bucket", "bucket", tokens="9")
        items = [_item(job_id, "key", {"state": "known"}), _item(job_id, "job", row)]
        DYNAMODB.transact_write_items(TransactItems=[{"Put": {"TableName": TABLE, "Item": item}} for item in items])
    _log("submit", job_id)
    return {"statusCode": 202, "body": json.dumps({"id": job_id})}


def dispatch(event: Event, context: object) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    for record in event["Records"]:
        job_id, state = _changed(record)
        _log("dispatch", job_id)
        if state == "queued":
            if BARE:
                SQS.send_message(QueueUrl=QUEUE, MessageBody=job_id)
                continue
            DYNAMODB.get_item(TableName=TABLE, Key=_item(job_id, "job", {}), ConsistentRead=True)
            _update("slots", "slots", taken_by=job_id)
            SQS.send_message(QueueUrl=QUEUE, MessageBody=job_id)
            _update(job_id, "job", sent="1", wrote="mark")
        elif state == "done" and not BARE:
            DYNAMODB.get_item(TableName=TABLE, Key=_item(job_id, "job", {}), ConsistentRead=True)
            _update("slots", "slots", freed_by=job_id)
            _update(job_id, "job", freed="1", wrote="mark")
    return {"batchItemFailures": []}


def work(event: Event, context: object) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    for message in event["Records"]:
        job_id = message["body"]
        _log("work", job_id)
        if not BARE:
            _update(job_id, "job", state="running", wrote="transition")
            SQS.change_message_visibility(QueueUrl=QUEUE, ReceiptHandle=message["receiptHandle"], VisibilityTimeout=60)
        _update(job_id, "job", state="done", wrote="transition", finished_at=str(time.time()))
    return {"batchItemFailures": []}


def record(event: Event, context: object) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    for change in event["Records"]:
        job_id, state = _changed(change)
        _log("record", job_id)
        if state != "queued":
            DYNAMODB.put_item(TableName=TABLE, Item=_item(job_id, f"entry#{state}", {"state": "told"}))
        if state == "done":
            _update(job_id, "job", told="1", wrote="mark")
    return {"batchItemFailures": []}


def _log(step: str, job_id: str) -> None:
    print(json.dumps({"step": step, "job_id": job_id}))


def _changed(record: Event) -> tuple[str, str]:
    new = record["dynamodb"]["NewImage"]
    return new["id"]["S"], new["state"]["S"]


def _item(job_id: str, item: str, values: Mapping[str, str]) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"id": job_id, "item": item, **values}.items()}


def _update(job_id: str, item: str, **values: str) -> None:
    DYNAMODB.update_item(
        TableName=TABLE,
        Key=_item(job_id, item, {}),
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
        ExpressionAttributeNames={f"#{name}": name for name in values},
        ExpressionAttributeValues={f":{name}": {"S": value} for name, value in values.items()},
    )
