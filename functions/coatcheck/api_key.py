"""API keys: what a key looks like, where it is kept (hashed), and who the caller with one is."""

import re
from hashlib import sha256

from coatcheck.store import Store
from coatcheck.write import Key, Table

FORM = re.compile(r"cc_[A-Za-z0-9_-]{43}")


def api_key_place(text: str) -> Key:
    """Where a key is kept. Its text has 256 random bits, so a plain hash cannot be searched for it."""
    return Key(table=Table.TENANTS, id=f"key#{sha256(text.encode()).hexdigest()}")


def identified(store: Store, header: str) -> dict[str, str]:
    """The tenant and name of the caller with an Authorization header, or the refusal. Raises Unavailable."""
    scheme, _, text = header.partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not FORM.fullmatch(text):
        return {"refusal": "send an API key: Authorization: Bearer cc_…"}
    row = store.get(api_key_place(text))
    if row is None:
        return {"refusal": "this API key is not known: it was revoked, or mistyped"}
    return {"tenant": str(row["tenant"]), "name": f"key …{row['last4']}"}
