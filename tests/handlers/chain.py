"""A job's whole way through the functions, without the services between them: streams and queues are read by hand."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import boto3

from coatcheck.aws import clients
from handlers import dispatcher, recorder, wake, worker
from tests.coatcheck.cloud import LANES, REGION, Cloud
from tests.handlers.events import LambdaContext, failed_items, sqs_event


class Chain:
    """Hands over what the event source mappings would: transitions of the stream, and messages of the queues."""

    def __init__(self, aws: Cloud) -> None:
        self._aws = aws
        self._streams: Any = boto3.client("dynamodbstreams", region_name=REGION)
        arn = aws.dynamodb.describe_table(TableName="jobs")["Table"]["LatestStreamArn"]
        shard = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        begin = self._streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="LATEST")
        self._places = dict.fromkeys((dispatcher, recorder), begin["ShardIterator"])

    def dispatch(self) -> int:
        """Ring for the transitions since the last time; the filter is the one of the template."""
        return self._feed(dispatcher, _leaves_work)

    def record(self) -> int:
        """Write down the transitions since the last time; the filter is the one of the template."""
        return self._feed(recorder, _is_change)

    def _feed(self, consumer: ModuleType, counts: Callable[[dict[str, Any]], bool]) -> int:
        found = self._streams.get_records(ShardIterator=self._places[consumer])
        self._places[consumer] = found["NextShardIterator"]
        records = [record for record in found["Records"] if _is_transition(record) and counts(record)]
        if records:
            assert failed_items(consumer.handler({"Records": records}, LambdaContext(30))) == []
        return len(records)

    def work(self, lane: str = "interactive", seconds: float = 900) -> int:
        messages = self._aws.received(lane)
        for message in messages:
            assert failed_items(worker.handler(sqs_event(message), LambdaContext(seconds))) == []
        return len(messages)

    def wake(self) -> int:
        messages = self._aws.received("wake")
        for message in messages:
            wake.handler(sqs_event(message), LambdaContext(30))
        return len(messages)

    def run(self, most: int = 50) -> None:
        """Hand everything over until nothing is left to hand over."""
        for _ in range(most):
            if not self.dispatch() + sum(self.work(lane) for lane in LANES) + self.wake() + self.record():
                return
        raise AssertionError("the chain never came to rest")


def _is_transition(record: dict[str, Any]) -> bool:
    change = record["dynamodb"]
    return (
        record["eventName"] in ("INSERT", "MODIFY")
        and change["Keys"]["item"] == {"S": "job"}
        and change["NewImage"]["wrote"] == {"S": "transition"}
    )


def _leaves_work(record: dict[str, Any]) -> bool:
    return record["dynamodb"]["NewImage"]["state"]["S"] not in ("running", "cancelling")


def _is_change(record: dict[str, Any]) -> bool:
    return bool(record["eventName"] == "MODIFY")


@contextmanager
def counting_calls() -> Iterator[Counter[str]]:
    """Count the requests of the functions' own clients, each by its operation, for a while."""
    calls: Counter[str] = Counter()

    def count(event_name: str, **_: Any) -> None:
        calls[event_name.rpartition(".")[2]] += 1

    every: list[Any] = [
        clients.dynamodb(),
        clients.dynamodb(clients.BRIEF),
        clients.sqs(),
        clients.sqs(clients.BRIEF),
        clients.s3(),
    ]
    for client in every:
        client.meta.events.register("before-call", count)
    try:
        yield calls
    finally:
        for client in every:
            client.meta.events.unregister("before-call", count)
