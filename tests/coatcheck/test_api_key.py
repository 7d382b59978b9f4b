"""API keys: who the caller is, or what to send instead."""

import pytest

from coatcheck.api_key import api_key_place, identified
from coatcheck.memory import MemoryStore

KEY = "cc_" + "aB3_-" * 8 + "xyz"
STORE = MemoryStore(rows={api_key_place(KEY): {"tenant": "acme", "last4": "xxyz"}})


@pytest.mark.parametrize("header", [f"Bearer {KEY}", f"bearer {KEY}", f"Bearer   {KEY} "])
def test_a_known_key_is_its_tenants(header: str) -> None:
    assert identified(STORE, header) == {"tenant": "acme", "name": "key …xxyz"}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        KEY,
        f"Basic {KEY}",
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        f"Bearer {KEY}\n{KEY}",
        "Bearer cc_",
    ],
)
def test_what_is_no_key_is_told_what_to_send(header: str) -> None:
    assert identified(STORE, header) == {"refusal": "send an API key: Authorization: Bearer cc_…"}


def test_an_unknown_key_is_refused_without_a_tenant() -> None:
    refusal = identified(STORE, f"Bearer cc_{'0' * 43}")
    assert set(refusal) == {"refusal"}
    assert "not known" in refusal["refusal"]


def test_the_key_itself_is_nowhere_in_the_table() -> None:
    assert KEY not in str(STORE.rows)
    assert KEY[3:] not in api_key_place(KEY).id


def test_a_key_carries_its_scopes_as_the_gateway_can_pass_them_on() -> None:
    scoped = MemoryStore(rows={api_key_place(KEY): {"tenant": "acme", "last4": "xxyz", "scopes": ["act_as", "other"]}})
    assert identified(scoped, f"Bearer {KEY}")["scopes"] == "act_as other"
    plain = MemoryStore(rows={api_key_place(KEY): {"tenant": "acme", "last4": "xxyz", "scopes": []}})
    assert "scopes" not in identified(plain, f"Bearer {KEY}")
