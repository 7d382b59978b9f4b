"""The source's address: a URL, or what RDS writes into a secret."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from coatcheck.aws.database_secret import UnusableSecret, database_url
from tests.coatcheck.cloud import REGION, Cloud


def secret(text: str) -> tuple[Any, str]:
    client: Any = boto3.client("secretsmanager", region_name=REGION)
    return client, client.create_secret(Name=f"source-{abs(hash(text))}", SecretString=text)["ARN"]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("postgresql://u:p@db/shop", "postgresql://u:p@db/shop"),
        ("postgres://u:p@db/shop", "postgres://u:p@db/shop"),
        (
            '{"username":"reader","password":"a/b:c@d?e#f%","host":"db.internal","port":5433,"dbname":"shop"}',
            "postgresql://reader:a%2Fb%3Ac%40d%3Fe%23f%25@db.internal:5433/shop",
        ),
        ('{"username":"r","password":"p","host":"db"}', "postgresql://r:p@db:5432/postgres"),
    ],
)
def test_a_secret_is_a_url_or_the_parts_of_one(aws: Cloud, text: str, url: str) -> None:
    assert aws.queues
    assert database_url(*secret(text)) == url


@pytest.mark.parametrize("text", ["hunter2", "{}", '{"host":"db"}', "[]", '"text"', "null"])
def test_a_secret_of_another_form_is_refused_without_being_told(aws: Cloud, text: str) -> None:
    assert aws.queues
    client, arn = secret(text)
    with pytest.raises(UnusableSecret) as unusable:
        database_url(client, arn)
    assert arn in str(unusable.value)
    assert "hunter2" not in str(unusable.value)


def test_a_secret_that_is_not_there_is_our_own_fault(aws: Cloud) -> None:
    assert aws.queues
    client: Any = boto3.client("secretsmanager", region_name=REGION)
    with pytest.raises(ClientError):
        database_url(client, "no-such-secret")
