"""An AWS of this process alone: the tables, queues and bucket of a stage, on moto."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import boto3
import msgspec
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from moto import mock_aws
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from coatcheck.aws import clients
from coatcheck.run import settings
from coatcheck.timings import Timings
from handlers import authorizer, bells, ports, submit, worker
from tests.coatcheck.admissions import GENEROUS
from tests.coatcheck.tables import create_tables

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client
    from types_boto3_sqs import SQSClient

REGION: Final = "ap-south-1"
BUCKET = "coatcheck-test-results"
BUSY: Final = (400, {"__type": "OperationAborted"})
"""A refusal that passes, and that the SDK does not wait for by itself."""

LINK_KEY = "k" * 64
LANES = ("interactive", "bulk")
CACHES: tuple[Callable[..., Any], ...] = (
    clients.dynamodb,
    clients.sqs,
    clients.s3,
    clients.secrets,
    ports.jobs,
    ports.known_load,
    ports.known_pace,
    bells.jobs_for_beats,
    ports.jobs_and_keys,
    ports.tenants,
    authorizer._tokens,
    ports.objects,
    bells.wake_queue,
    bells.known_pauses,
    bells.known_limits,
    bells.bell,
    ports.key_of_links,
    settings.timings,
    settings.lane_queues,
    settings.caps,
    settings.admission,
    settings.lanes,
    settings.routes,
    settings.issuer,
    worker._desk,
    submit.admissions,
)


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Clients of the tests' own, and where things are."""

    dynamodb: "DynamoDBClient"
    sqs: "SQSClient"
    s3: "S3Client"
    queues: dict[str, str]

    def received(self, queue: str) -> list[dict[str, Any]]:
        """Take everything that can be received from a queue."""
        found: list[dict[str, Any]] = []
        while messages := self.sqs.receive_message(
            QueueUrl=self.queues[queue],
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages"):
            for message in messages:
                found.append(dict(message))
                self.sqs.delete_message(QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"])
        return found


class OneAtATime:
    """moto's tables know no isolation: without this, two threads' transactions would see each other half done."""

    lock = RLock()

    def __call__(self, event_name: str, request: AWSPreparedRequest, **more: Any) -> AWSResponse | None:
        with self.lock:
            return botocore_stubber(event_name, request, **more)


class Mishaps(OneAtATime):
    """Answers the next requests itself, as a service in trouble does, and lets later ones through."""

    def __init__(self, *answers: tuple[int, dict[str, Any]]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, event_name: str, request: AWSPreparedRequest, **more: Any) -> AWSResponse | None:
        self.asked += 1
        if not self.answers:
            return super().__call__(event_name, request, **more)
        status, body = self.answers.pop(0)
        return self.trouble(request, status, body)

    def trouble(self, request: AWSPreparedRequest, status: int, body: dict[str, Any]) -> AWSResponse:
        headers: Any = {"content-type": "application/x-amz-json-1.0"}
        raw: Any = MockRawResponse(json.dumps(body))
        return AWSResponse(request.url, status, headers, raw)


def through(client: Any, handler: OneAtATime) -> Any:
    """Let a client's requests reach moto through one handler alone: botocore would call each of several."""
    client.meta.events.unregister("before-send", botocore_stubber)
    client.meta.events.unregister("before-send", unique_id=ONE_WAY)
    client.meta.events.register("before-send", handler, unique_id=ONE_WAY)
    return client


def past_moto(client: Any) -> Any:
    """Let a client's requests leave the process."""
    client.meta.events.unregister("before-send", botocore_stubber)
    return client


def isolated(client: Any) -> Any:
    return through(client, ONE_AT_A_TIME)


@contextmanager
def troubled(client: Any, *answers: tuple[int, dict[str, Any]]) -> Iterator[Mishaps]:
    """Let a client's next requests fail, for a while."""
    through(client, mishaps := Mishaps(*answers))
    try:
        yield mishaps
    finally:
        isolated(client)


@contextmanager
def watched(client: Any, operation: str) -> Iterator[list[dict[str, Any]]]:
    """Look at the parameters of a client's requests, for a while."""
    seen: list[dict[str, Any]] = []

    def see(params: dict[str, Any], **_: Any) -> None:
        seen.append(params)

    event = f"provide-client-params.{client.meta.service_model.service_name}.{operation}"
    client.meta.events.register(event, see)
    try:
        yield seen
    finally:
        client.meta.events.unregister(event, see)


ONE_AT_A_TIME = OneAtATime()
ONE_WAY = "the way to moto"


def client_of(service: str) -> Any:
    return isolated(boto3.client(service, region_name=REGION))  # type: ignore[call-overload]  # any service


@contextmanager
def cloud(timings: Timings | None = None) -> Iterator[Cloud]:
    """Build a stage, tell the functions of it by their environment, and take it down again."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            patch.setenv(name, "of-no-account")
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        with mock_aws():
            made = Cloud(
                dynamodb=client_of("dynamodb"), sqs=client_of("sqs"), s3=client_of("s3"), queues=dict[str, str]()
            )
            create_tables(made.dynamodb)
            for queue in (*LANES, "wake", "dead-letters", "unstarted"):
                made.queues[queue] = made.sqs.create_queue(QueueName=queue)["QueueUrl"]
            made.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
            made.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            for name, value in _environment(made, timings or Timings()).items():
                patch.setenv(name, value)
            _forget()
            try:
                yield made
            finally:
                _forget()


def _environment(made: Cloud, timings: Timings) -> dict[str, str]:
    return {
        settings.TIMINGS: msgspec.json.encode(timings).decode(),
        settings.JOBS_TABLE: "jobs",
        settings.IDEMPOTENCY_TABLE: "idempotency",
        settings.TENANTS_TABLE: "tenants",
        settings.RESULTS_BUCKET: BUCKET,
        settings.LINK_SECRET_ARN: client_of("secretsmanager").create_secret(Name="links", SecretString=LINK_KEY)["ARN"],
        settings.CAPS: "{}",
        settings.ADMISSION: msgspec.json.encode(GENEROUS).decode(),
        settings.LANE: "interactive",
        settings.LANE_QUEUE: made.queues["interactive"],
        settings.LANE_QUEUES: json.dumps({lane: made.queues[lane] for lane in LANES}),
        settings.LANES: json.dumps(LANES),
        settings.WAKE_QUEUE: made.queues["wake"],
        settings.DEAD_LETTER_QUEUE: made.queues["dead-letters"],
        settings.ROUTES: json.dumps({"POST /v1/reports/probe": "probe"}),
    }


def _forget() -> None:
    for cached in CACHES:
        cached.cache_clear()  # type: ignore[attr-defined]  # every one of them is a functools.cache
