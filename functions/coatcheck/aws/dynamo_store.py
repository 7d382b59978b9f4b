"""The store on DynamoDB."""

import random
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from coatcheck.aws.attributes import attributes, row
from coatcheck.aws.errors import code_of, passing_errors
from coatcheck.aws.expressions import Expressions
from coatcheck.aws.time_index import DUE_INDEX, WAITING_INDEX
from coatcheck.job import DUE_SHOWS
from coatcheck.row import Row, milliseconds
from coatcheck.store import MOST_AHEAD, IndexPage, ListPage, Refused, RowPage, TransactionRefused, Unavailable
from coatcheck.write import Key, Put, Table, Write

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef

TENANT_INDEX = "by_tenant"
PAGE_SIZE = 100
LOOKED_AT = 10
"""Of jobs that are only looked at, so many pages are read at once."""

TRIES = 6
FIRST_WAIT_SECONDS = 0.02


class DynamoStore:
    """The tables that a function may touch, by name, through one client."""

    def __init__(self, client: "DynamoDBClient", tables: Mapping[Table, str], *, page_size: int = PAGE_SIZE) -> None:
        self._client = client
        self._tables = tables
        self._page_size = page_size

    def get(self, key: Key) -> Row | None:
        with passing_errors():
            found = self._client.get_item(TableName=self._tables[key.table], Key=key_of(key), ConsistentRead=True)
        item = found.get("Item")
        return None if item is None else _row(item)

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        """What the service left out for its size or its load is asked for again after a growing, random wait."""
        found: dict[Key, Row] = {}
        asked: Any = {}
        for key in keys:
            part = asked.setdefault(self._tables[key.table], {"Keys": [], "ConsistentRead": True})
            part["Keys"].append(key_of(key))
        places = {(self._tables[key.table], _place(key_of(key))): key for key in keys}
        for attempt in range(TRIES):
            _wait_before(attempt)
            with passing_errors():
                page = self._client.batch_get_item(RequestItems=asked)
            for table, items in page["Responses"].items():
                found |= {places[table, _place(item)]: _row(item) for item in items}
            asked = page.get("UnprocessedKeys")
            if not asked:
                return found
        raise Unavailable("UnprocessedKeys")

    def write(self, write: Write) -> Row:
        try:
            with passing_errors():
                return self._write(write)
        except ClientError as error:
            if code_of(error) != "ConditionalCheckFailedException":
                raise
            # ALL_OLD adds the item to the error, which botocore's type of it does not know.
            response: Mapping[str, Any] = error.response
            item = response.get("Item")
            raise Refused(self.get(write.key) if item is None else _row(item)) from error

    def transact(self, writes: Sequence[Write]) -> None:
        """Conflicts with other transactions pass: they are tried again after a growing, random wait."""
        for attempt in range(TRIES):
            _wait_before(attempt)
            try:
                with passing_errors():
                    self._client.transact_write_items(TransactItems=[self._item(write) for write in writes])
            except ClientError as error:
                if code_of(error) != "TransactionCanceledException":
                    raise
                # The reasons are in the answer, which botocore's type of it does not know.
                response: Mapping[str, Any] = error.response
                reasons = response.get("CancellationReasons", [])
                if refused := self._refused(writes, reasons):
                    raise TransactionRefused(refused) from error
            else:
                return
        raise Unavailable("TransactionConflict")

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        return DUE_INDEX.page(self._client, self._jobs, shard, start, self._page_size, milliseconds(now))

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        size = LOOKED_AT * self._page_size
        return DUE_INDEX.rows(self._client, self._jobs, shard, start, size, DUE_SHOWS)

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return WAITING_INDEX.page(self._client, self._jobs, limiter, start, self._page_size)

    def count_waiting(self, limiter: str, before: datetime | None = None) -> int:
        if before is None:
            return WAITING_INDEX.count(self._client, self._jobs, limiter)
        return len(
            WAITING_INDEX.page(self._client, self._jobs, limiter, None, MOST_AHEAD, milliseconds(before) - 1).ids
        )

    @property
    def _jobs(self) -> str:
        return self._tables[Table.JOBS]

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        # A place in the order of ids, not a key of the index: whether its job is still there does not matter.
        further = {} if before is None else {":before": {"S": before}}
        with passing_errors():
            page = self._client.query(
                TableName=self._jobs,
                IndexName=TENANT_INDEX,
                KeyConditionExpression="#tenant = :tenant" + (" AND #id < :before" if further else ""),
                ExpressionAttributeNames={"#tenant": "tenant"} | ({"#id": "id"} if further else {}),
                ExpressionAttributeValues={":tenant": {"S": tenant}} | further,
                ScanIndexForward=False,
                Limit=most,
            )
        return ListPage(ids=tuple(item["id"]["S"] for item in page["Items"]), more="LastEvaluatedKey" in page)

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        with passing_errors():
            page = self._client.query(
                TableName=self._jobs,
                KeyConditionExpression="#id = :id AND begins_with(#item, :prefix)",
                ExpressionAttributeNames={"#id": "id", "#item": "item"},
                ExpressionAttributeValues={":id": {"S": job_id}, ":prefix": {"S": prefix}},
                ConsistentRead=True,
                ScanIndexForward=False,
                Limit=most,
            )
        return [_row(item) for item in page["Items"]]

    def _write(self, write: Write) -> Row:
        made = Expressions.of(write, _key_attribute(write.key))
        common: dict[str, Any] = {
            "TableName": self._tables[write.key.table],
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **_references(made),
        }
        if isinstance(write, Put):
            self._client.put_item(Item=key_of(write.key) | attributes(write.row), **common)
            return write.row
        updated = self._client.update_item(
            Key=key_of(write.key), UpdateExpression=made.update, ReturnValues="ALL_NEW", **common
        )
        return _row(updated["Attributes"])

    def _item(self, write: Write) -> "TransactWriteItemTypeDef":
        made = Expressions.of(write, _key_attribute(write.key))
        common: dict[str, Any] = {
            "TableName": self._tables[write.key.table],
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **_references(made),
        }
        if isinstance(write, Put):
            common["Item"] = key_of(write.key) | attributes(write.row)
            return {"Put": common}  # type: ignore[typeddict-item]  # made of parts
        common |= {"Key": key_of(write.key), "UpdateExpression": made.update}
        return {"Update": common}  # type: ignore[typeddict-item]  # made of parts

    def _refused(self, writes: Sequence[Write], reasons: Sequence[Mapping[str, Any]]) -> dict[int, Row | None]:
        """The writes whose conditions did not hold. None of them: another transaction was in the way."""
        refused: dict[int, Row | None] = {}
        for position, (write, reason) in enumerate(zip(writes, reasons, strict=False)):
            if reason.get("Code") == "ConditionalCheckFailed":
                item = reason.get("Item")
                refused[position] = _row(item) if item else self.get(write.key)
        return refused


def _references(made: Expressions) -> dict[str, Any]:
    parts = {
        "ConditionExpression": made.condition,
        "ExpressionAttributeNames": made.names,
        "ExpressionAttributeValues": made.values,
    }
    return {name: value for name, value in parts.items() if value}


def _wait_before(attempt: int) -> None:
    """A growing, random time before each try but the first."""
    if attempt:
        seconds = FIRST_WAIT_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311  # jitter, no secret
        time.sleep(seconds)  # back-off: the service calls nobody back when it has room again


def key_of(key: Key) -> "dict[str, AttributeValueTypeDef]":
    if key.table is Table.JOBS:
        return {"id": {"S": key.id}, "item": {"S": key.item}}
    return {"key": {"S": key.id}}


def _place(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The key of an item, as something that can be compared."""
    return tuple(item[name]["S"] for name in ("id", "item", "key") if name in item)


def _key_attribute(key: Key) -> str:
    return "id" if key.table is Table.JOBS else "key"


def _row(item: Mapping[str, Any]) -> Row:
    """The row as it was written. A job's row bears its own id."""
    return {name: value for name, value in row(item).items() if name not in ("item", "key")}
