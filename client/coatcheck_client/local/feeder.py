"""A thread that gives the emulator the metrics that it has none of: those of its queues, and those in the logs."""

import json
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import urllib3

if TYPE_CHECKING:
    from types_boto3_cloudwatch.type_defs import MetricDatumTypeDef

EVERY_SECONDS = 3.0
IDLE_TIMES = 20
LONGEST_REST_SECONDS = 10.0
"""A round is followed by so many times its length of rest, 5 % of a processor, but by no silence that hides alarms."""

MEASURING = "/aws/lambda/coatcheck-local-supervisor"
"""The log group with metrics in it."""

Messages: TypeAlias = Sequence[Mapping[str, Any]]

logger = logging.getLogger(__name__)


def start() -> None:
    """Feed for as long as the process lives."""
    Thread(target=_feed, args=(os.environ["AWS_ENDPOINT_URL"],), name="feeder", daemon=True).start()


def _feed(url: str) -> None:
    feeder = None
    while True:
        began = time.monotonic()
        try:
            feeder = feeder or Feeder(url)
            feeder.feed(time.time())
        except Exception as error:  # noqa: BLE001  # this round: the emulator may not even listen yet
            logger.info("no metrics in this round: %s", error)
        rest = max(EVERY_SECONDS, IDLE_TIMES * (time.monotonic() - began))
        time.sleep(min(rest, LONGEST_REST_SECONDS))  # the pace of the rounds, which end with the process


class Feeder:
    def __init__(self, url: str) -> None:
        import boto3

        session = boto3.Session()  # the emulator's own environment has its credentials
        self._cloudwatch = session.client("cloudwatch", endpoint_url=url)
        self._logs = session.client("logs", endpoint_url=url)
        self._http = urllib3.PoolManager(retries=False, timeout=30.0)
        self._messages_url = f"{url}/_ministack/sqs/messages"
        self._seen: set[str] = set()
        self._since = round(time.time() * 1000)

    def feed(self, now: float) -> None:
        """One round: every queue's numbers, and what was logged since the last one. CloudWatch judges its alarms."""
        self._put("AWS/SQS", [datum for name, messages in self._queues() for datum in numbers(name, messages, now)])
        for namespace, data in self._logged():
            self._put(namespace, data)

    def _put(self, namespace: str, data: "Sequence[MetricDatumTypeDef]") -> None:
        if data:
            self._cloudwatch.put_metric_data(Namespace=namespace, MetricData=data)

    def _queues(self) -> Iterator[tuple[str, Messages]]:
        found = self._http.request("GET", self._messages_url).json()["messages"]
        for regions in found.values():
            for queues in regions.values():
                for url, messages in queues.items():
                    yield url.rsplit("/", 1)[-1], messages

    def _logged(self) -> "Iterator[tuple[str, list[MetricDatumTypeDef]]]":
        try:
            found = self._logs.filter_log_events(logGroupName=MEASURING, startTime=self._since, filterPattern='"_aws"')
        except self._logs.exceptions.ResourceNotFoundException:
            return  # nothing is deployed yet
        for event in found["events"]:
            if event["message"] not in self._seen:
                self._since = max(self._since, event["timestamp"])
                yield from embedded(event["message"])
        self._seen = {event["message"] for event in found["events"]}  # the emulator gives events no ids


def numbers(queue: str, messages: Messages, now: float) -> "list[MetricDatumTypeDef]":
    """What SQS tells of a queue: a message that is hidden is not visible, but ages."""
    visible = sum(message["IsVisible"] for message in messages)
    oldest = min((message["SentTimestamp"] for message in messages), default=now)
    return [
        {
            "MetricName": name,
            "Dimensions": [{"Name": "QueueName", "Value": queue}],
            "Value": value,
            "Timestamp": datetime.fromtimestamp(now, UTC),
        }
        for name, value in (
            ("ApproximateNumberOfMessagesVisible", visible),
            ("ApproximateAgeOfOldestMessage", max(0.0, now - oldest)),
        )
    ]


def embedded(line: str) -> "Iterator[tuple[str, list[MetricDatumTypeDef]]]":
    """The metrics in a log line in the embedded metric format, by their namespaces.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    try:
        said = json.loads(line)
        about = said["_aws"]
    except (ValueError, TypeError, KeyError):
        return
    for each in about["CloudWatchMetrics"]:
        yield (
            each["Namespace"],
            [
                {
                    "MetricName": metric["Name"],
                    "Dimensions": [{"Name": name, "Value": str(said[name])} for name in dimensions],
                    "Values": said[metric["Name"]],
                    "Timestamp": datetime.fromtimestamp(about["Timestamp"] / 1000, UTC),
                }
                for dimensions in each["Dimensions"]
                for metric in each["Metrics"]
            ],
        )
