"""The source's address, from its secret."""

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from coatcheck.aws.errors import passing_errors

if TYPE_CHECKING:
    from types_boto3_secretsmanager import SecretsManagerClient


class UnusableSecret(Exception):
    """The secret is neither a URL nor what RDS writes."""

    def __init__(self, arn: str) -> None:
        super().__init__(f"the secret {arn} must hold a postgresql:// URL, or JSON with host, username and password")
        self.arn = arn


def database_url(client: "SecretsManagerClient", arn: str) -> str:
    """A PostgreSQL URL. A secret that RDS manages is JSON with host, port, username, password and dbname.

    Raises UnusableSecret, Unavailable.
    """
    with passing_errors():
        text = client.get_secret_value(SecretId=arn)["SecretString"]
    if text.startswith(("postgresql://", "postgres://")):
        return text
    try:
        parts = json.loads(text)
        login = f"{quote(parts['username'], safe='')}:{quote(parts['password'], safe='')}"
        return f"postgresql://{login}@{parts['host']}:{parts.get('port', 5432)}/{parts.get('dbname', 'postgres')}"
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise UnusableSecret(arn) from error
