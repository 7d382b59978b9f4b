"""Callers: the tenant is the credential's own, unless the credential may name another."""

from typing import Any

import pytest

from coatcheck.caller import Caller, caller_of
from coatcheck.problem import BadRequest, Forbidden, Unauthorized

OWN = {"tenant": "backend", "name": "key …abcd"}
TRUSTED = OWN | {"scopes": "act_as"}


def named(tenant: str) -> dict[str, str]:
    return {"coatcheck-tenant": tenant, "host": "api"}


@pytest.mark.parametrize("credential", [OWN, TRUSTED])
def test_without_the_header_a_caller_is_its_own_tenant(credential: dict[str, str]) -> None:
    assert caller_of(credential, {}) == Caller(tenant="backend", name="key …abcd")


@pytest.mark.parametrize("tenant", ["s", "seller-48812", "0", "a" * 64])
def test_a_trusted_backend_acts_for_the_tenant_that_it_names_under_its_own_name(tenant: str) -> None:
    assert caller_of(TRUSTED, named(tenant)) == Caller(tenant=tenant, name="key …abcd of backend")


@pytest.mark.parametrize("scopes", ["", "act", "act_as_if", "read", "ACT_AS"])
@pytest.mark.parametrize("tenant", ["seller-48812", "backend", "", "no tenant"])
def test_without_the_scope_the_header_is_refused_and_not_ignored(scopes: str, tenant: str) -> None:
    with pytest.raises(Forbidden, match="act_as"):
        caller_of(OWN | {"scopes": scopes}, named(tenant))


@pytest.mark.parametrize(
    "tenant", ["", "A", "-a", "a_b", "a" * 65, "a b", "a,b", "a\n", "ü", "../a", "key#a", "a#b", "\ud800", "\u0661"]
)
def test_what_is_no_name_of_a_tenant_is_refused(tenant: str) -> None:
    with pytest.raises(BadRequest, match="1 to 64"):
        caller_of(TRUSTED, named(tenant))


@pytest.mark.parametrize("credential", [{}, {"refusal": "revoked"}, {"refusal": "no", "scopes": "act_as"}])
def test_the_header_makes_nobody_known(credential: dict[str, Any]) -> None:
    with pytest.raises(Unauthorized):
        caller_of(credential, named("seller-48812"))
