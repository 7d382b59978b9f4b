"""Events as API Gateway, SQS and DynamoDB's streams hand them to functions."""

import base64
import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from coatcheck.doorbell import Doorbell, Wake, message_body

_numbers = count(1)
TENANT = {"tenant": "acme", "name": "key …abcd"}


class LambdaContext:
    """What a function is told of its invocation."""

    function_name = "coatcheck-test"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:ap-south-1:123456789012:function:coatcheck-test"
    aws_request_id = "6f8a2c1e-0000-4000-8000-000000000000"

    def __init__(self, remaining_seconds: float = 900) -> None:
        self.remaining_seconds = remaining_seconds

    def get_remaining_time_in_millis(self) -> int:
        return round(self.remaining_seconds * 1000)


def http_event(
    route: str,
    *,
    body: bytes | str | None = None,
    path: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    authorizer: Mapping[str, str] | None = TENANT,
    encoded: bool = False,
) -> dict[str, Any]:
    """A request of an HTTP API, payload format 2.0; header names in lower case, as the gateway sends them."""
    method, _, address = route.partition(" ")
    for name, value in (path or {}).items():
        address = address.replace(f"{{{name}}}", value)
    text = body.decode() if isinstance(body, bytes) and not encoded else body
    if encoded:
        data = body.encode() if isinstance(body, str) else body or b""
        text = base64.b64encode(data).decode()
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": address,
        "rawQueryString": "&".join(f"{name}={value}" for name, value in (query or {}).items()),
        "headers": {
            "accept": "*/*",
            "content-type": "application/json",
            "host": "abc123.execute-api.ap-south-1.amazonaws.com",
            "user-agent": "curl/8.5.0",
            "x-amzn-trace-id": "Root=1-65a1b2c3-000000000000000000000000",
            "x-forwarded-for": "203.0.113.7",
            "x-forwarded-port": "443",
            "x-forwarded-proto": "https",
        }
        | dict(headers or {}),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc123",
            "authorizer": {"lambda": None if authorizer is None else dict(authorizer)},
            "domainName": "abc123.execute-api.ap-south-1.amazonaws.com",
            "domainPrefix": "abc123",
            "http": {
                "method": method,
                "path": address,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "curl/8.5.0",
            },
            "requestId": f"request-{next(_numbers)}",
            "routeKey": route,
            "stage": "$default",
            "time": "10/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1794312000000,
        },
        "isBase64Encoded": encoded,
    }
    if text is not None:
        event["body"] = text
    if path:
        event["pathParameters"] = dict(path)
    if query:
        event["queryStringParameters"] = dict(query)
    return event


def sqs_event(*messages: Mapping[str, Any], receives: int = 1) -> dict[str, Any]:
    """Messages as an event source mapping hands them over, from what ReceiveMessage returned."""
    records = [
        {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": {
                "ApproximateReceiveCount": str(receives),
                "SentTimestamp": "1794312000000",
                "SenderId": "AROAEXAMPLE:dispatcher",
                "ApproximateFirstReceiveTimestamp": "1794312000001",
            }
            | dict(message.get("Attributes", {})),
            "messageAttributes": {
                name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
                for name, value in message.get("MessageAttributes", {}).items()
            },
            "md5OfBody": message.get("MD5OfBody", ""),
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:ap-south-1:123456789012:interactive",
            "awsRegion": "ap-south-1",
        }
        for message in messages
    ]
    return {"Records": records}


def message(body: Doorbell | Wake | str) -> dict[str, Any]:
    """A message that nobody ever sent through a queue."""
    number = next(_numbers)
    text = body if isinstance(body, str) else message_body(body)
    return {"MessageId": f"message-{number}", "ReceiptHandle": f"receipt-{number}", "Body": text}


def stream_event(*job_ids: str) -> dict[str, Any]:
    """Records of the jobs table's stream, as the filter of the dispatcher lets them through."""
    records = [
        {
            "eventID": f"{number:032x}",
            "eventName": "MODIFY",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "ap-south-1",
            "dynamodb": {
                "ApproximateCreationDateTime": 1794312000.0,
                "Keys": {"id": {"S": job_id}, "item": {"S": "job"}},
                "NewImage": {"id": {"S": job_id}, "item": {"S": "job"}, "wrote": {"S": "transition"}},
                "SequenceNumber": f"{number:021d}",
                "SizeBytes": 900,
                "StreamViewType": "NEW_IMAGE",
            },
            "eventSourceARN": "arn:aws:dynamodb:ap-south-1:123456789012:table/jobs/stream/2026-11-10T00:00:00.000",
        }
        for job_id in job_ids
        for number in [next(_numbers)]
    ]
    return {"Records": records}


def body_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer["body"])
    return found


def failed_items(answer: Mapping[str, Any]) -> list[str]:
    """The ids that a batch answer names, after a look at its exact form: AWS takes any other for a total failure."""
    assert set(answer) == {"batchItemFailures"}
    assert all(set(item) == {"itemIdentifier"} for item in answer["batchItemFailures"])
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]
