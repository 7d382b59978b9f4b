"""API keys are stored as hashes, listed without their text, and revoked one at a time."""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import boto3
import moto
import pytest

from coatcheck_client import keys
from coatcheck_client.deployment import Deployment
from coatcheck_client.keys import UnknownKey, UnknownScope, UnusableTenant

NOW = datetime(2026, 11, 29, 18, 0, 0, 123_000, tzinfo=UTC)


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with moto.mock_aws():
        session = boto3.Session("test", "test", region_name="us-east-1")
        deployment = Deployment("dev", {"TenantsTable": "tenants"}, session)
        deployment.dynamodb.create_table(
            TableName="tenants",
            KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield deployment


def test_a_key_has_256_random_bits_behind_its_prefix() -> None:
    texts = {keys.new_key_text() for _ in range(100)}
    assert len(texts) == 100
    assert all(re.fullmatch(r"cc_[A-Za-z0-9_-]{43}", text) for text in texts)


def test_the_table_holds_everything_but_the_key(deployment: Deployment) -> None:
    text = keys.new_key_text()
    keys.create(deployment, "acme", text, now=NOW)
    [item] = deployment.dynamodb.scan(TableName="tenants")["Items"]
    assert item == {
        "key": {"S": "key#" + hashlib.sha256(text.encode()).hexdigest()},
        "tenant": {"S": "acme"},
        "last4": {"S": text[-4:]},
        "created_at": {"N": "1795975200123"},
        "scopes": {"L": []},
    }


def test_keys_are_listed_by_tenant_and_other_items_are_not(deployment: Deployment) -> None:
    made = [keys.create(deployment, tenant, keys.new_key_text(), now=NOW) for tenant in ("acme", "acme", "rival")]
    deployment.dynamodb.put_item(TableName="tenants", Item={"key": {"S": "limits#acme"}, "tenant": {"S": "acme"}})
    assert sorted(key.id for key in keys.stored(deployment)) == sorted(key.id for key in made)
    assert [key.id for key in keys.stored(deployment, "rival")] == [made[2].id]
    assert next(iter(keys.stored(deployment, "rival"))) == made[2]


@pytest.mark.parametrize("named_by", ["text", "id", "beginning of the id"])
def test_a_key_is_revoked_alone(deployment: Deployment, named_by: str) -> None:
    text = keys.new_key_text()
    gone = keys.create(deployment, "acme", text, now=NOW)
    stays = keys.create(deployment, "acme", keys.new_key_text(), now=NOW)
    name = {"text": text, "id": gone.id, "beginning of the id": gone.id[:12]}[named_by]
    assert keys.revoke(deployment, name) == gone
    assert list(keys.stored(deployment)) == [stays]


@pytest.mark.parametrize("name", ["", "zzzz", "cc_" + "x" * 43])
def test_a_name_that_fits_no_key_or_several_revokes_none(deployment: Deployment, name: str) -> None:
    for _ in range(2):
        keys.create(deployment, "acme", keys.new_key_text(), now=NOW)
    with pytest.raises(UnknownKey):
        keys.revoke(deployment, name)
    assert len(list(keys.stored(deployment))) == 2


def test_a_key_is_made_with_scopes_that_there_are(deployment: Deployment) -> None:
    key = keys.create(deployment, "backend", keys.new_key_text(), now=NOW, scopes=("act_as",))
    assert list(keys.stored(deployment)) == [key]
    with pytest.raises(UnknownScope, match="admin"):
        keys.create(deployment, "backend", keys.new_key_text(), now=NOW, scopes=("admin",))


@pytest.mark.parametrize("tenant", ["", "Acme", "-a", "a b", "a#b", "a" * 65])
def test_a_key_is_not_made_for_what_the_api_would_not_take_as_a_tenant(deployment: Deployment, tenant: str) -> None:
    with pytest.raises(UnusableTenant):
        keys.create(deployment, tenant, keys.new_key_text(), now=NOW)
    assert list(keys.stored(deployment)) == []


def test_a_rotated_key_may_do_the_same_and_the_old_one_works_until_it_is_revoked(deployment: Deployment) -> None:
    text = keys.new_key_text()
    keys.create(deployment, "backend", keys.new_key_text(), now=NOW, scopes=("act_as",))
    first = keys.create(deployment, "backend", text, now=NOW, scopes=("act_as",))
    old, new = keys.rotate(deployment, text, keys.new_key_text(), now=NOW)
    assert old == first
    assert (new.tenant, new.scopes, new.id == old.id) == ("backend", ("act_as",), False)
    assert len(list(keys.stored(deployment))) == 3
    keys.revoke(deployment, old.id)
    assert new in list(keys.stored(deployment))


def test_an_unknown_key_is_not_rotated(deployment: Deployment) -> None:
    with pytest.raises(UnknownKey):
        keys.rotate(deployment, "cc_" + "x" * 43, keys.new_key_text(), now=NOW)
    assert list(keys.stored(deployment)) == []
