"""Indexes of jobs by time, on DynamoDB: page by page, and counted."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coatcheck.aws.errors import passing_errors
from coatcheck.store import IndexPage

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

MOST_COUNTED_PAGES = 10
"""Of 1 MB each: some hundred thousand jobs of a partition, after which one more changes nothing."""


@dataclass(frozen=True, kw_only=True)
class TimeIndex:
    """An index by its name, and its two attributes."""

    name: str
    partition: str
    time: str

    def page(
        self, client: "DynamoDBClient", table: str, of: str, start: str | None, size: int, until: int | None = None
    ) -> IndexPage:
        """The oldest jobs of a partition, and none younger than `until`. Raises Unavailable."""
        more: dict[str, Any] = {}
        if start is not None:
            job_id, time = start.rsplit("@", 1)
            place = {self.partition: {"S": of}, self.time: {"N": time}}
            more["ExclusiveStartKey"] = {"id": {"S": job_id}, "item": {"S": "job"}} | place
        bound = {} if until is None else {":until": {"N": str(until)}}
        with passing_errors():
            page = client.query(
                TableName=table,
                IndexName=self.name,
                KeyConditionExpression="#of = :of" + (" AND #time <= :until" if bound else ""),
                ExpressionAttributeNames={"#of": self.partition} | ({"#time": self.time} if bound else {}),
                ExpressionAttributeValues={":of": {"S": of}} | bound,
                Limit=size,
                **more,
            )
        last = page.get("LastEvaluatedKey")
        return IndexPage(
            ids=tuple(item["id"]["S"] for item in page["Items"]),
            next=f"{last['id']['S']}@{last[self.time]['N']}" if last else None,
        )

    def count(self, client: "DynamoDBClient", table: str, of: str) -> int:
        """How many jobs a partition has. Raises Unavailable."""
        count, more = 0, dict[str, Any]()
        for _ in range(MOST_COUNTED_PAGES):
            with passing_errors():
                page = client.query(
                    TableName=table,
                    IndexName=self.name,
                    Select="COUNT",
                    KeyConditionExpression="#of = :of",
                    ExpressionAttributeNames={"#of": self.partition},
                    ExpressionAttributeValues={":of": {"S": of}},
                    **more,
                )
            count += page["Count"]
            if "LastEvaluatedKey" not in page:
                break
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return count


DUE_INDEX = TimeIndex(name="due", partition="due_shard", time="due")
WAITING_INDEX = TimeIndex(name="waiting", partition="waiting", time="waits_since")
