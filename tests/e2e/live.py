"""The live stack as tests use it: its AWS side, and its worker processes."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, TypeVar

import boto3
import psutil
import urllib3

from coatcheck_client.client import Coatcheck
from coatcheck_client.deployment import Deployment, local_deployment
from coatcheck_client.local.emulator import ACCOUNT
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.record import Stack, read_state
from coatcheck_client.project import Project
from tests.e2e.canaries import unfit
from tests.e2e.client import POLL_SECONDS, Client
from tests.e2e.functions import Functions

T = TypeVar("T")


@dataclass(frozen=True)
class LiveStack:
    project: Project
    stack: Stack
    guard: Guard
    """Stops what it is told to watch when the tests end, however they end."""

    @cached_property
    def deployment(self) -> Deployment:
        """The AWS side, with the rights of the account's root user."""
        return local_deployment(self.stack)

    @property
    def session(self) -> boto3.Session:
        """For further clients: give them `endpoint_url=live.stack.aws_endpoint_url`."""
        return self.deployment.session

    @cached_property
    def functions(self) -> Functions:
        """How the functions are configured, and meanwhile otherwise."""
        return Functions(self.deployment.functions)

    def unfit(self) -> str | None:
        """What the emulator does not do as AWS does, of what tests rely on; None if it does everything."""
        return unfit(self._client)

    @contextmanager
    def client(self, tenant: str) -> Iterator[Client]:
        key = next(known.api_key for known in self.stack.tenants if known.tenant == tenant)
        with Coatcheck(self.stack.api_url, key) as library:
            yield Client(library)

    def row(self, job_id: str, item: str = "job") -> dict[str, Any] | None:
        """An item of the jobs table, consistently read, as DynamoDB has it; None if there is none."""
        found = self.deployment.dynamodb.get_item(
            TableName=self.deployment.output("JobsTable"),
            Key={"id": {"S": job_id}, "item": {"S": item}},
            ConsistentRead=True,
        )
        return found.get("Item")

    def function_processes(self, word: str) -> list[psutil.Process]:
        """Processes of the functions with that word in their name: `worker-bulk`, `dispatcher`."""
        emulator = read_state(self.project).emulator
        assert emulator is not None
        return [
            child
            for child in psutil.Process(emulator.process.pid).children(recursive=True)
            if word in _environment(child).get("AWS_LAMBDA_FUNCTION_NAME", "")
        ]

    def kill(self, word: str) -> int:
        """SIGKILL all processes of these functions, idle or at work, from outside. How many there were."""
        processes = self.function_processes(word)
        for process in processes:
            process.send_signal(signal.SIGKILL)
        return len(processes)

    def kill_one(self, word: str, chance: Random) -> bool:
        """SIGKILL one process of these functions, a random one. False if there is none."""
        processes = self.function_processes(word)
        if processes:
            with suppress(psutil.NoSuchProcess):
                chance.choice(processes).send_signal(signal.SIGKILL)
        return bool(processes)

    def supervise(self) -> None:
        """One round of the supervisor, now."""
        function = self.deployment.output("SupervisorFunction")
        answer = self.deployment.functions.invoke(FunctionName=function, Payload=b'{"once": true}')
        assert "FunctionError" not in answer, answer["Payload"].read().decode()

    def wait_for(self, found: Callable[[], T], *, within: float) -> T:
        """The first true value that this returns; an AssertionError after `within` seconds."""
        deadline = time.monotonic() + within
        while not (value := found()):
            assert time.monotonic() < deadline, f"not within {within} s"
            time.sleep(POLL_SECONDS)
        return value

    def ring(self, lane: str, body: str) -> None:
        """Put a message into a lane's queue by hand."""
        url = self.deployment.output(f"{lane.capitalize()}QueueUrl")
        self._client("sqs").send_message(QueueUrl=url, MessageBody=body)

    def move_letter(self, job_id: str, lane: str) -> bool:
        """Move a job's dead letter into a lane's queue, as the console does: whole. False if none is to be seen."""
        sqs, source = self.deployment.sqs, self.deployment.output("DeadLetterQueueUrl")
        found = sqs.receive_message(
            QueueUrl=source, MaxNumberOfMessages=10, VisibilityTimeout=1, MessageAttributeNames=["All"]
        )
        for letter in found.get("Messages", []):
            if json.loads(letter["Body"])["job_id"] == job_id:
                sqs.send_message(
                    QueueUrl=self.deployment.output(f"{lane.capitalize()}QueueUrl"),
                    MessageBody=letter["Body"],
                    MessageAttributes=letter["MessageAttributes"],
                )
                sqs.delete_message(QueueUrl=source, ReceiptHandle=letter["ReceiptHandle"])
                return True
        return False

    def purge(self, output: str) -> None:
        """Lose all messages of a queue."""
        self._client("sqs").purge_queue(QueueUrl=self.deployment.output(output))

    def overdue(self, job_id: str) -> None:
        """Let a job be due now, as if its time had passed."""
        self.set_number(job_id, "due", 1)

    def set_number(self, job_id: str, name: str, number: int) -> None:
        """Write a number into a job's row, past all rules."""
        self.deployment.dynamodb.update_item(
            TableName=self.deployment.output("JobsTable"),
            Key={"id": {"S": job_id}, "item": {"S": "job"}},
            UpdateExpression="SET #name = :number",
            ExpressionAttributeNames={"#name": name},
            ExpressionAttributeValues={":number": {"N": str(number)}},
        )

    def versions(self, prefix: str) -> int:
        """How many versions of objects the results bucket has under a prefix."""
        found = self._client("s3").list_object_versions(Bucket=self.deployment.output("ResultsBucket"), Prefix=prefix)
        return len(found.get("Versions", []))

    def delete_results(self, prefix: str) -> int:
        """Delete the objects under a prefix, as a person at the console would. How many there were."""
        s3, bucket = self._client("s3"), self.deployment.output("ResultsBucket")
        found = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
        for each in found:
            s3.delete_object(Bucket=bucket, Key=each["Key"])
        return len(found)

    def object(self, key: str) -> bytes:
        """An object of the results bucket."""
        found = self._client("s3").get_object(Bucket=self.deployment.output("ResultsBucket"), Key=key)
        return bytes(found["Body"].read())

    def log_lines(self) -> list[str]:
        """What the functions logged in the last minutes."""
        since = round((time.time() - 300) * 1000)
        logs = self._client("logs")
        return [
            event["message"]
            for group in logs.describe_log_groups(logGroupNamePrefix="/aws/lambda/")["logGroups"]
            for page in logs.get_paginator("filter_log_events").paginate(
                logGroupName=group["logGroupName"], startTime=since
            )
            for event in page["events"]
        ]

    def _client(self, service: str) -> Any:
        return self.session.client(service, endpoint_url=self.stack.aws_endpoint_url)  # type: ignore[call-overload]  # by name

    def messages(self, output: str) -> list[dict[str, Any]]:
        """All messages of a queue, named by its output, hidden ones too, without receiving any."""
        fields = {"QueueUrl": self.deployment.output(output)}
        with urllib3.PoolManager(retries=False, timeout=10.0) as http:
            answer = http.request("GET", f"{self.stack.aws_endpoint_url}/_ministack/sqs/messages", fields=fields)
        regions = answer.json()["messages"].get(ACCOUNT, {}).get(self.stack.region, {})
        return [message for queue in regions.values() for message in queue]


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}
