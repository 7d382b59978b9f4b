"""Callers, with IAM enforced: keys act for tenants, are replaced and taken back, by the command's own means."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from coatcheck_client import Coatcheck, keys
from infra.config import CONFIGS, Stage
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

CACHED_SECONDS = CONFIGS[Stage.LOCAL].api.authorizer_cache_seconds
"""How long the gateway may go by what the authorizer said of a key."""


@contextmanager
def caller(live: LiveStack, text: str) -> Iterator[Client]:
    with Coatcheck(live.stack.api_url, text) as library:
        yield Client(library)


def made(live: LiveStack, tenant: str, *scopes: str) -> str:
    text = keys.new_key_text()
    keys.create(live.deployment, tenant, text, now=datetime.now(UTC), scopes=scopes)
    return text


def naming(tenant: str) -> dict[str, str]:
    return {"Coatcheck-Tenant": tenant}


def test_a_trusted_backend_acts_for_a_tenant_who_sees_who_it_was(live: LiveStack, stranger: Client) -> None:
    text = made(live, "marketplace", "act_as")
    with caller(live, text) as backend:
        request = {"kind": "probe", "args": {}}
        accepted = backend.request("POST", "/v1/jobs", json=request, headers=naming("coastal-crafts"))
        assert accepted.status == 202, accepted.body
        path = f"/v1/jobs/{accepted.document['id']}"
        assert stranger.request("GET", path).document["requested_by"] == f"key …{text[-4:]} of marketplace"
        # for itself, and for a third, the same key sees nothing of it
        assert backend.request("GET", path).status == 404
        assert backend.request("GET", path, headers=naming("bharat-bazaar")).status == 404
        assert backend.request("GET", path, headers=naming("coastal-crafts")).status in {200, 303}
        odd = backend.request("GET", path, headers=naming("Coastal Crafts"))
        assert (odd.status, odd.headers["content-type"]) == (400, "application/problem+json")


def test_a_key_without_the_scope_may_not_name_a_tenant(client: Client) -> None:
    answer = client.request("GET", "/v1/jobs/j_00000000000000000000000000", headers=naming("coastal-crafts"))
    assert (answer.status, answer.headers["content-type"]) == (403, "application/problem+json")
    assert "act_as" in answer.document["detail"]


def test_a_key_is_replaced_without_a_gap_and_taken_back_within_the_authorizers_time(live: LiveStack) -> None:
    old_text, new_text = made(live, "coastal-crafts"), keys.new_key_text()
    path = "/v1/jobs/j_00000000000000000000000000"
    with caller(live, old_text) as old, caller(live, new_text) as new:
        assert old.request("GET", path).status == 404
        keys.rotate(live.deployment, old_text, new_text, now=datetime.now(UTC))
        assert (old.request("GET", path).status, new.request("GET", path).status) == (404, 404)
        keys.revoke(live.deployment, old_text)
        live.wait_for(lambda: old.request("GET", path).status == 401, within=CACHED_SECONDS + 5)
        assert new.request("GET", path).status == 404
        assert not [line for line in live.log_lines() if old_text in line or new_text in line]
