"""The key that signs links, from its secret."""

from typing import TYPE_CHECKING

from coatcheck.aws.errors import passing_errors

if TYPE_CHECKING:
    from types_boto3_secretsmanager import SecretsManagerClient


def link_key(client: "SecretsManagerClient", arn: str) -> bytes:
    """Raises Unavailable."""
    with passing_errors():
        return client.get_secret_value(SecretId=arn)["SecretString"].encode()
