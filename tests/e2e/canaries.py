"""What the suite relies on the emulator for, tried on its own: where it is not like AWS, green and red mean nothing."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4
from zoneinfo import ZoneInfo

import urllib3
from botocore.exceptions import ClientError

Client: TypeAlias = Callable[[str], Any]
"""Makes a client of a service of the emulator, such as `sqs`."""

HIDDEN_SECONDS = 2
COMES_BACK_WITHIN_SECONDS = 10
ZONE = ZoneInfo("Asia/Kolkata")


@contextmanager
def table(client: Client) -> Iterator[tuple[Any, str]]:
    dynamodb, name = client("dynamodb"), f"canary-{uuid4()}"
    dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    yield dynamodb, name
    dynamodb.delete_table(TableName=name)


@contextmanager
def queue(client: Client, **attributes: str) -> Iterator[tuple[Any, str]]:
    sqs = client("sqs")
    url = sqs.create_queue(QueueName=f"canary-{uuid4()}", Attributes=attributes)["QueueUrl"]
    yield sqs, url
    sqs.delete_queue(QueueUrl=url)


def refusal(call: Callable[[], object]) -> dict[str, Any]:
    """The error's response. Raises AssertionError if there is none."""
    try:
        call()
    except ClientError as error:
        return dict(error.response)
    raise AssertionError("it was not refused")


def an_update_of_a_row_that_must_exist_is_refused_if_it_does_not(client: Client) -> None:
    with table(client) as (dynamodb, name):
        refused = refusal(
            lambda: dynamodb.update_item(
                TableName=name,
                Key={"id": {"S": "nobody"}},
                UpdateExpression="SET a = :a",
                ConditionExpression="attribute_exists(id)",
                ExpressionAttributeValues={":a": {"N": "1"}},
            )
        )
        assert refused["Error"]["Code"] == "ConditionalCheckFailedException"
        assert "Item" not in dynamodb.get_item(TableName=name, Key={"id": {"S": "nobody"}})


def a_refused_transaction_names_the_item_that_stood_in_the_way(client: Client) -> None:
    with table(client) as (dynamodb, name):
        item = {"id": {"S": "there"}, "a": {"N": "7"}}
        dynamodb.put_item(TableName=name, Item=item)
        write = {
            "TableName": name,
            "Item": {"id": {"S": "there"}},
            "ConditionExpression": "attribute_not_exists(id)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        refused = refusal(lambda: dynamodb.transact_write_items(TransactItems=[{"Put": write}]))
        assert refused["Error"]["Code"] == "TransactionCanceledException"
        (reason,) = refused["CancellationReasons"]
        assert (reason["Code"], reason.get("Item")) == ("ConditionalCheckFailed", item)


def a_message_comes_back_when_the_queue_says_so(client: Client) -> None:
    with queue(client, VisibilityTimeout=str(HIDDEN_SECONDS)) as (sqs, url):
        sqs.send_message(QueueUrl=url, MessageBody="{}")
        assert len(sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"]) == 1
        assert not sqs.receive_message(QueueUrl=url).get("Messages"), "it is not hidden"
        assert sqs.receive_message(QueueUrl=url, WaitTimeSeconds=COMES_BACK_WITHIN_SECONDS).get("Messages"), (
            "it is gone"
        )


def a_message_that_was_hidden_by_hand_still_ends_in_the_next_queue(client: Client) -> None:
    with queue(client) as (sqs, target):
        arn = sqs.get_queue_attributes(QueueUrl=target, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        with queue(client, RedrivePolicy=json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 2})) as (_, url):
            sqs.send_message(QueueUrl=url, MessageBody="{}")
            for _ in range(2):
                (message,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"]
                receipt = message["ReceiptHandle"]
                sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0)
            deadline = time.monotonic() + COMES_BACK_WITHIN_SECONDS
            while not sqs.receive_message(QueueUrl=target).get("Messages"):
                assert not sqs.receive_message(QueueUrl=url).get("Messages"), "it was received too often"
                assert time.monotonic() < deadline, "it never came to the next queue"


def a_message_of_a_standard_queue_keeps_its_group(client: Client) -> None:
    with queue(client) as (sqs, url):
        sqs.send_message(QueueUrl=url, MessageBody="{}", MessageGroupId="bharat-bazaar")
        (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["All"], WaitTimeSeconds=1)["Messages"]
        assert message["Attributes"].get("MessageGroupId") == "bharat-bazaar"


def an_object_is_stored_byte_for_byte_also_through_a_presigned_link(client: Client) -> None:
    s3, bucket, data = client("s3"), f"canary-{uuid4()}", os.urandom(70_000)
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="put", Body=data)
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    place = {"Bucket": bucket, "Key": "parts", "UploadId": upload}
    part = s3.upload_part(**place, PartNumber=1, Body=data)
    s3.complete_multipart_upload(**place, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    link = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "link"}, ExpiresIn=60)
    assert urllib3.request("PUT", link, body=data).status == 200
    for key in ("put", "parts", "link"):
        assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == data, key
        s3.delete_object(Bucket=bucket, Key=key)
    s3.delete_bucket(Bucket=bucket)


def a_schedule_fires_at_its_time_and_is_gone(client: Client) -> None:
    scheduler, name = client("scheduler"), f"canary-{uuid4()}"
    function = "arn:aws:lambda:us-east-1:000000000000:function:nobody"
    scheduler.create_schedule(
        Name=name,
        ScheduleExpression=f"at({datetime.now(ZONE) + timedelta(seconds=2):%Y-%m-%dT%H:%M:%S})",
        ScheduleExpressionTimezone=ZONE.key,
        FlexibleTimeWindow={"Mode": "OFF"},
        ActionAfterCompletion="DELETE",
        Target={"Arn": function, "RoleArn": "arn:aws:iam::000000000000:role/nobody"},
    )
    assert scheduler.get_schedule(Name=name)["State"] == "ENABLED", "it is gone before its time"
    deadline = time.monotonic() + COMES_BACK_WITHIN_SECONDS
    while name in [each["Name"] for each in scheduler.list_schedules()["Schedules"]]:
        assert time.monotonic() < deadline, "it never fired"
        time.sleep(0.1)


CANARIES = (
    an_update_of_a_row_that_must_exist_is_refused_if_it_does_not,
    a_refused_transaction_names_the_item_that_stood_in_the_way,
    a_message_comes_back_when_the_queue_says_so,
    a_message_that_was_hidden_by_hand_still_ends_in_the_next_queue,
    a_message_of_a_standard_queue_keeps_its_group,
    an_object_is_stored_byte_for_byte_also_through_a_presigned_link,
    a_schedule_fires_at_its_time_and_is_gone,
)


def unfit(client: Client, canaries: tuple[Callable[[Client], None], ...] = CANARIES) -> str | None:
    """What the emulator does not do as AWS does; None if it does everything."""
    for canary in canaries:
        try:
            canary(client)
        except (AssertionError, ClientError, KeyError) as error:
            return f"{canary.__name__}: {error!r}"
    return None
