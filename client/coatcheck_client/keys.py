"""API keys: made here, shown once, stored as a hash."""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from coatcheck.caller import check_tenant
from coatcheck.problem import BadRequest
from coatcheck_client.deployment import Deployment
from coatcheck_client.trouble import ExitCode, Trouble

_PREFIX = "cc_"
_RANDOM_BYTES = 32  # 43 characters of url-safe base64
_ITEM_PREFIX = "key#"
SCOPES = ("act_as",)
"""What a key may do beyond its own tenant's jobs. `act_as`: name the tenant in the header Coatcheck-Tenant."""


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key as it is stored. `id` is the hash of its text, of which a beginning is enough to name it."""

    id: str
    tenant: str
    last4: str
    created_at: datetime
    scopes: tuple[str, ...] = ()


class UnknownKey(Trouble):
    """No stored key, or more than one, is meant by that."""

    exit_code = ExitCode.USAGE

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count or 'no'} stored keys match",
            hint="name it by its text or by enough of the id that `coatcheck keys list` shows",
        )


class UnusableTenant(Trouble):
    """A tenant's name that the API would not take in a header."""

    exit_code = ExitCode.USAGE


class UnknownScope(Trouble):
    """A scope that no function of the API asks for."""

    exit_code = ExitCode.USAGE

    def __init__(self, scope: str) -> None:
        super().__init__(f"there is no scope {scope!r}", hint=f"there is {', '.join(SCOPES)}")


def new_key_text() -> str:
    """43 random characters (256 bits) behind a prefix that secret scanners can find."""
    return _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def create(deployment: Deployment, tenant: str, text: str, *, now: datetime, scopes: tuple[str, ...] = ()) -> ApiKey:
    """Store a key of a tenant by its hash. Raises UnusableTenant, UnknownScope."""
    try:
        check_tenant(tenant)
    except BadRequest as error:
        raise UnusableTenant(error.detail) from error
    for scope in scopes:
        if scope not in SCOPES:
            raise UnknownScope(scope)
    key = ApiKey(id=_hash(text), tenant=tenant, last4=text[-4:], created_at=now, scopes=scopes)
    deployment.dynamodb.put_item(
        TableName=deployment.output("TenantsTable"),
        Item={
            "key": {"S": _ITEM_PREFIX + key.id},
            "tenant": {"S": key.tenant},
            "last4": {"S": key.last4},
            "created_at": {"N": str(int(key.created_at.timestamp() * 1000))},
            "scopes": {"L": [{"S": scope} for scope in key.scopes]},
        },
    )
    return key


def stored(deployment: Deployment, tenant: str | None = None) -> Iterator[ApiKey]:
    """All keys, or those of one tenant; the table is small and only people look at it, so it is scanned."""
    pages = deployment.dynamodb.get_paginator("scan").paginate(
        TableName=deployment.output("TenantsTable"),
        FilterExpression="begins_with(#key, :prefix)",
        ExpressionAttributeNames={"#key": "key"},
        ExpressionAttributeValues={":prefix": {"S": _ITEM_PREFIX}},
        ConsistentRead=True,
    )
    for page in pages:
        for item in page["Items"]:
            key = ApiKey(
                id=item["key"]["S"].removeprefix(_ITEM_PREFIX),
                tenant=item["tenant"]["S"],
                last4=item["last4"]["S"],
                created_at=datetime.fromtimestamp(int(item["created_at"]["N"]) / 1000, UTC),
                scopes=tuple(scope["S"] for scope in item["scopes"]["L"]),
            )
            if tenant in (None, key.tenant):
                yield key


def rotate(deployment: Deployment, text_or_id: str, text: str, *, now: datetime) -> tuple[ApiKey, ApiKey]:
    """Store a second key that may do what a stored one may: (old, new). Both work. Raises UnknownKey."""
    old = find(deployment, text_or_id)
    return old, create(deployment, old.tenant, text, now=now, scopes=old.scopes)


def revoke(deployment: Deployment, text_or_id: str) -> ApiKey:
    """Delete one key, named by its text or by the beginning of its id. Raises UnknownKey."""
    key = find(deployment, text_or_id)
    deployment.dynamodb.delete_item(
        TableName=deployment.output("TenantsTable"), Key={"key": {"S": _ITEM_PREFIX + key.id}}
    )
    return key


def find(deployment: Deployment, text_or_id: str) -> ApiKey:
    """One stored key, named by its text or by the beginning of its id. Raises UnknownKey."""
    wanted = _hash(text_or_id) if text_or_id.startswith(_PREFIX) else text_or_id
    found = [key for key in stored(deployment) if wanted and key.id.startswith(wanted)]
    if len(found) != 1:
        raise UnknownKey(len(found))
    return found[0]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
