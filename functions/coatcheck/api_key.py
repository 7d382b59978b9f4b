"""API keys: what a key looks like, where it is kept (hashed), and who the caller with one is."""

import re
from hashlib import sha256

from coatcheck.store import Store
from coatcheck.write import Key, Table

FORM = re.compile(r"cc_[A-Za-z0-9_-]{43}")
TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""A signed JSON web token, to look at."""

MOST_TOKEN_CHARACTERS = 8 * 1024


def api_key_place(text: str) -> Key:
    """Where a key is kept. Its text has 256 random bits, so a plain hash cannot be searched for it."""
    return Key(table=Table.TENANTS, id=f"key#{sha256(text.encode()).hexdigest()}")


def bearer_token(header: str) -> str | None:
    """The token of an Authorization header, if it is one and no API key."""
    scheme, _, text = header.partition(" ")
    text = text.strip()
    fits = scheme.lower() == "bearer" and len(text) <= MOST_TOKEN_CHARACTERS and TOKEN.fullmatch(text)
    return text if fits else None


def identified(store: Store, header: str) -> dict[str, str]:
    """The tenant, name and scopes of the caller with an Authorization header, or the refusal. Raises Unavailable.

    One read of the store whether a key is known or not. It finds the key by its hash: there is no text to compare,
    and so no time that a comparison takes which would tell how much of a guess was right.
    """
    scheme, _, text = header.partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not FORM.fullmatch(text):
        return {"refusal": "send an API key: Authorization: Bearer cc_…"}
    row = store.get(api_key_place(text))
    if row is None:
        return {"refusal": "this API key is not known: it was revoked, or mistyped"}
    scopes = row.get("scopes", [])
    # The gateway's context carries strings.
    named = {"scopes": " ".join(map(str, scopes))} if isinstance(scopes, list) and scopes else {}
    return {"tenant": str(row["tenant"]), "name": f"key …{row['last4']}", **named}
