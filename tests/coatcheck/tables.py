"""The tables of a stage, as the templates declare them."""

from typing import TYPE_CHECKING

from coatcheck.job import DUE_SHOWS

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


def create_tables(client: "DynamoDBClient") -> None:
    client.create_table(
        TableName="jobs",
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "item", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "item", "AttributeType": "S"},
            {"AttributeName": "due_shard", "AttributeType": "S"},
            {"AttributeName": "due", "AttributeType": "N"},
            {"AttributeName": "tenant", "AttributeType": "S"},
            {"AttributeName": "waiting", "AttributeType": "S"},
            {"AttributeName": "waits_since", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "due",
                "KeySchema": [
                    {"AttributeName": "due_shard", "KeyType": "HASH"},
                    {"AttributeName": "due", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(DUE_SHOWS)},
            },
            {
                "IndexName": "waiting",
                "KeySchema": [
                    {"AttributeName": "waiting", "KeyType": "HASH"},
                    {"AttributeName": "waits_since", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {
                "IndexName": "by_tenant",
                "KeySchema": [
                    {"AttributeName": "tenant", "KeyType": "HASH"},
                    {"AttributeName": "id", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
    )
    for table in ("idempotency", "tenants"):
        client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        )
