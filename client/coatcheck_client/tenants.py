"""Tenants of a deployment: what each may, instead of what the stage says, and what it has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from coatcheck.tenant_limits import MOST, TenantLimits, limits_key, told_limits
from coatcheck_client.deployment import Deployment
from coatcheck_client.operator import operate
from coatcheck_client.trouble import ExitCode, Trouble


@dataclass(frozen=True, kw_only=True)
class LaneUse:
    """`open_jobs` are those of the last count. Where there is no cap, nobody holds a slot, and nobody waits for one."""

    cap: int | None = None
    in_flight: int | None = None
    open_jobs: int = 0
    waiting: int = 0


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """`open_jobs`: those of the last count, and those accepted since."""

    tenant: str
    limits: TenantLimits
    open_jobs: int
    lanes: Mapping[str, LaneUse]


@dataclass(frozen=True, kw_only=True)
class Known:
    """`open_jobs` has the tenants with the most; `tenants` has those that were asked for.

    A lane that is not among the caps of `stage` has none.
    """

    stage: TenantLimits
    counted_at: str | None = None
    open_jobs: Mapping[str, int]
    tenants: list[Tenant]


class LimitsRefused(Trouble):
    exit_code = ExitCode.USAGE


def look(deployment: Deployment, *tenants: str) -> Known:
    """Raises LimitsRefused, OperatorFailed."""
    return _told(operate(deployment, "look_at_tenants", tenants=list(tenants)))


def set_limits(deployment: Deployment, tenant: str, limits: TenantLimits) -> Known:
    """Give it those limits that are not None; the others stay. Raises LimitsRefused, OperatorFailed."""
    return _told(operate(deployment, "set_limits", tenant=tenant, **told_limits(limits)))


def reset_limits(deployment: Deployment, tenant: str) -> Known:
    """Raises LimitsRefused, OperatorFailed."""
    return _told(operate(deployment, "reset_limits", tenant=tenant))


def doubts(deployment: Deployment, tenant: str) -> list[str]:
    """Whether the name may be a typo: nobody has a key in it, or has submitted a job in it."""
    pages = deployment.dynamodb.get_paginator("scan").paginate(
        TableName=deployment.output("TenantsTable"),
        FilterExpression="#tenant = :tenant AND #key <> :limits",
        ExpressionAttributeNames={"#tenant": "tenant", "#key": "key"},
        ExpressionAttributeValues={":tenant": {"S": tenant}, ":limits": {"S": limits_key(tenant).id}},
        ConsistentRead=True,
    )
    if any(page["Items"] for page in pages):
        return []
    return [f"no API key of the tenant {tenant!r} exists, and nobody has submitted a job as it: is the name right?"]


def own_limits(deployment: Deployment) -> dict[str, TenantLimits]:
    """Those of all tenants that have keys, have submitted, or have limits; the table is small, so it is scanned."""
    pages = deployment.dynamodb.get_paginator("scan").paginate(
        TableName=deployment.output("TenantsTable"), ConsistentRead=True
    )
    found: dict[str, TenantLimits] = {}
    for page in pages:
        for item in page["Items"]:
            tenant = item["tenant"]["S"]
            if item["key"]["S"] != limits_key(tenant).id:
                found.setdefault(tenant, TenantLimits())
            elif (own := _limits(item)) != TenantLimits():  # those that were reset are none
                found[tenant] = own
    return found


def _limits(item: Mapping[str, Any]) -> TenantLimits:
    numbers = {name: int(item[name]["N"]) for name in MOST if name in item}
    caps = {lane: int(cap["N"]) for lane, cap in item.get("caps", {"M": {}})["M"].items()}
    return TenantLimits(**numbers, caps=caps)


def _told(answer: dict[str, Any]) -> Known:
    if "refused" in answer:
        raise LimitsRefused(answer["refused"])
    return msgspec.convert(answer, Known)
