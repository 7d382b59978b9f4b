"""Tables: their keys, and that nobody loses one by accident."""

import pytest

from tests.infra.template import Template

TABLES = ("JobsTable", "IdempotencyTable", "TenantsTable")


@pytest.mark.parametrize("name", TABLES)
def test_tables_on_aws_can_be_brought_back_and_cannot_be_deleted(on_aws: Template, name: str) -> None:
    table = on_aws.output(name)
    (replica,) = table.properties["Replicas"]
    assert replica["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
    assert replica["DeletionProtectionEnabled"] is True
    assert table.deletion_policy == "Retain"


@pytest.mark.parametrize("name", TABLES)
def test_tables_bill_by_request_and_are_encrypted(template: Template, name: str) -> None:
    table = template.output(name).properties
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}


def test_a_job_has_items_under_its_id(template: Template) -> None:
    table = template.output("JobsTable").properties
    assert table["KeySchema"] == [
        {"AttributeName": "id", "KeyType": "HASH"},
        {"AttributeName": "item", "KeyType": "RANGE"},
    ]


@pytest.mark.parametrize("name", ["IdempotencyTable", "TenantsTable"])
def test_keys_are_found_by_themselves(template: Template, name: str) -> None:
    assert template.output(name).properties["KeySchema"] == [{"AttributeName": "key", "KeyType": "HASH"}]


def test_what_is_due_is_found_by_shard_and_time_and_shows_what_the_load_is_made_of(template: Template) -> None:
    table = template.output("JobsTable").properties
    assert table["GlobalSecondaryIndexes"][0] == {
        "IndexName": "due",
        "KeySchema": [
            {"AttributeName": "due_shard", "KeyType": "HASH"},
            {"AttributeName": "due", "KeyType": "RANGE"},
        ],
        "Projection": {
            "ProjectionType": "INCLUDE",
            "NonKeyAttributes": ["lane", "state", "ready_at", "waiting", "tenant"],
        },
    }
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    assert types == {
        "id": "S",
        "item": "S",
        "due_shard": "S",
        "due": "N",
        "tenant": "S",
        "waiting": "S",
        "waits_since": "N",
    }


def test_a_tenants_jobs_are_found_in_the_order_of_their_ids(template: Template) -> None:
    index = template.output("JobsTable").properties["GlobalSecondaryIndexes"][1]
    assert index == {
        "IndexName": "by_tenant",
        "KeySchema": [
            {"AttributeName": "tenant", "KeyType": "HASH"},
            {"AttributeName": "id", "KeyType": "RANGE"},
        ],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }


def test_who_waits_for_a_limiter_is_found_in_the_order_of_their_waits_and_costs_no_more_than_its_keys(
    template: Template,
) -> None:
    assert template.output("JobsTable").properties["GlobalSecondaryIndexes"][2:] == [
        {
            "IndexName": "waiting",
            "KeySchema": [
                {"AttributeName": "waiting", "KeyType": "HASH"},
                {"AttributeName": "waits_since", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ]


def test_jobs_tell_of_every_change(template: Template) -> None:
    assert template.output("JobsTable").properties["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_old_jobs_and_keys_go_by_themselves_and_tenants_do_not(template: Template) -> None:
    for name in ("JobsTable", "IdempotencyTable"):
        expiry = template.output(name).properties["TimeToLiveSpecification"]
        assert expiry == {"AttributeName": "ttl", "Enabled": True}
    assert "TimeToLiveSpecification" not in template.output("TenantsTable").properties
