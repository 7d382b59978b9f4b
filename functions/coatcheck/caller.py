"""Who asks, and for whom: what a credential says of itself, and the tenant that it may name instead."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from coatcheck.problem import BadRequest, Busy, Forbidden, Unauthorized

TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
TENANT_FORM = "1 to 64 of a-z, 0-9 and dash that do not begin with a dash"
TENANT_HEADER = "coatcheck-tenant"
ACT_AS = "act_as"
REMEMBERED_SECONDS = 60
"""How long the gateway may go by what the authorizer said, whatever it was."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who asks, as the credential says. `name` is fit for logs and documents."""

    tenant: str
    name: str


def caller_of(credential: Mapping[str, str], headers: Mapping[str, str]) -> Caller:
    """The caller with a credential, as the authorizer passed it on. Raises Unauthorized, Forbidden, BadRequest, Busy.

    A credential with the scope `act_as` (a trusted backend with thousands of sellers) may name the tenant.
    """
    if reason := credential.get("unavailable"):
        raise Busy(f"{reason}: try again", headers={"Retry-After": str(REMEMBERED_SECONDS)})
    tenant = credential.get("tenant")
    if not tenant:
        raise Unauthorized(
            credential.get("refusal") or "send an API key: Authorization: Bearer cc_…",
            headers={"WWW-Authenticate": 'Bearer realm="coatcheck"'},
        )
    name = credential.get("name", tenant)
    named = headers.get(TENANT_HEADER)
    if named is None:
        return Caller(tenant=tenant, name=name)
    if ACT_AS not in credential.get("scopes", "").split():
        raise Forbidden(f"this credential may not name a tenant: leave {TENANT_HEADER} out, or give it {ACT_AS}")
    if not TENANT.fullmatch(named):
        raise BadRequest(f"{TENANT_HEADER} must be given once, as {TENANT_FORM}")
    return Caller(tenant=named, name=f"{name} of {tenant}")


def check_tenant(name: str) -> None:
    """Whether that can be the name of a tenant; whether there is one, only its callers know. Raises BadRequest."""
    if not TENANT.fullmatch(name):
        raise BadRequest(f"{name!r} is no name of a tenant: it has {TENANT_FORM}")
