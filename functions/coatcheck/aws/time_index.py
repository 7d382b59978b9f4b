"""Indexes of jobs by time, on DynamoDB: page by page, and counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coatcheck.aws.attributes import row
from coatcheck.aws.errors import passing_errors
from coatcheck.slots import due_key
from coatcheck.store import IndexPage, RowPage

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryOutputTypeDef

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
        bound: dict[str, Any] = {}
        if until is not None:
            bound = {
                "KeyConditionExpression": "#of = :of AND #time <= :until",
                "ExpressionAttributeNames": {"#of": self.partition, "#time": self.time},
                "ExpressionAttributeValues": {":of": {"S": of}, ":until": {"N": str(until)}},
            }
        page = self._page(client, table, of, start, {"Limit": size} | bound)
        return IndexPage(ids=tuple(item["id"]["S"] for item in page["Items"]), next=self._next(page))

    def rows(
        self, client: "DynamoDBClient", table: str, of: str, start: str | None, size: int, names: tuple[str, ...]
    ) -> RowPage:
        """These attributes of the oldest jobs of a partition, which the index must have. Raises Unavailable."""
        placeholders = {f"#{name}": name for name in names}
        asked = {
            "Limit": size,
            "ProjectionExpression": ", ".join(placeholders),
            "ExpressionAttributeNames": {"#of": self.partition} | placeholders,
        }
        page = self._page(client, table, of, start, asked)
        return RowPage(rows=tuple(row(item) for item in page["Items"]), next=self._next(page))

    def count(self, client: "DynamoDBClient", table: str, of: str) -> int:
        """How many jobs a partition has. Raises Unavailable."""
        count, start = 0, None
        for _ in range(MOST_COUNTED_PAGES):
            page = self._page(client, table, of, start, {"Select": "COUNT"})
            count += page["Count"]
            start = self._next(page)
            if start is None:
                break
        return count

    def _page(
        self, client: "DynamoDBClient", table: str, of: str, start: str | None, asked: Mapping[str, Any]
    ) -> "QueryOutputTypeDef":
        more: dict[str, Any] = {}
        if start is not None:
            job_id, time = start.rsplit("@", 1)
            place = {self.partition: {"S": of}, self.time: {"N": time}}
            more["ExclusiveStartKey"] = {"id": {"S": job_id}, "item": {"S": due_key(job_id).item}} | place
        whole: dict[str, Any] = {
            "KeyConditionExpression": "#of = :of",
            "ExpressionAttributeNames": {"#of": self.partition},
            "ExpressionAttributeValues": {":of": {"S": of}},
        }
        with passing_errors():
            return client.query(TableName=table, IndexName=self.name, **(whole | dict(asked) | more))

    def _next(self, page: "QueryOutputTypeDef") -> str | None:
        last = page.get("LastEvaluatedKey")
        return f"{last['id']['S']}@{last[self.time]['N']}" if last else None


DUE_INDEX = TimeIndex(name="due", partition="due_shard", time="due")
WAITING_INDEX = TimeIndex(name="waiting", partition="waiting", time="waits_since")
