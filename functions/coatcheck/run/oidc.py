"""Tokens of an OpenID Connect issuer: who the caller with one is. The library is loaded when the first one comes."""

import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from coatcheck.caller import TENANT
from coatcheck.run.settings import Issuer
from coatcheck.store import Unavailable
from coatcheck.strict_json import NotStrictJson, parsed

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Those with a public key alone. With a shared secret, whoever can verify a token could make one."""

TIMEOUT_SECONDS = 2.0
LEEWAY_SECONDS = 30
KEEP_KEYS_SECONDS = 3600.0
ASK_AGAIN_SECONDS = 60.0
"""How soon the issuer is asked again for a key that it did not have: else each made-up key id would cost a call."""

SILENT_SECONDS = 5.0
"""How long an issuer that did not answer is left alone: each call holds a place that callers with keys need, too."""

MOST_BYTES = 256 * 1024


class Tokens:
    """Verifies tokens with the issuer's keys, which it keeps."""

    def __init__(self, issuer: Issuer, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: dict[str, PyJWK] = {}
        self._asked_at: float | None = None
        self._silent_until = 0.0

    def identified(self, text: str) -> dict[str, str]:
        """The tenant and name of the caller with a token, or the refusal. Raises Unavailable."""
        import jwt

        try:
            key = self._key(str(jwt.get_unverified_header(text).get("kid")))
            if key is None:
                return {"refusal": "this token is signed with a key that its issuer does not publish"}
            claims = jwt.decode(
                text,
                key,
                algorithms=ALGORITHMS,
                audience=self._issuer.audience,
                issuer=self._issuer.url,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            return {"refusal": "this token has expired: take a new one"}
        except jwt.PyJWTError:
            return {
                "refusal": "this token is not one that is taken here: its issuer, audience, time or signature differ"
            }
        tenant = claims.get(self._issuer.tenant_claim)
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            return {"refusal": f"the claim {self._issuer.tenant_claim} of this token names no tenant"}
        return {"tenant": tenant, "name": f"token …{str(claims.get('sub', ''))[-4:]}"}

    def _key(self, key_id: str) -> "PyJWK | None":
        age = float("inf") if self._asked_at is None else self._clock() - self._asked_at
        if age >= KEEP_KEYS_SECONDS or (key_id not in self._keys and age >= ASK_AGAIN_SECONDS):
            self._refresh()
        return self._keys.get(key_id)

    def _refresh(self) -> None:
        """Take the issuer's keys. Those that are known stay, if it does not answer. Raises Unavailable."""
        import jwt

        if not self._keys and self._clock() < self._silent_until:
            raise Unavailable("the token's issuer")
        try:
            keys = jwt.PyJWKSet.from_dict(_fetched(self._keys_url())).keys
        except (OSError, HTTPException, ValueError, NotStrictJson, NotAnIssuer, jwt.PyJWTError) as error:
            if not self._keys:
                self._silent_until = self._clock() + SILENT_SECONDS
                raise Unavailable("the token's issuer") from error
        else:
            self._keys = {key.key_id: key for key in keys if isinstance(key.key_id, str)}
        self._asked_at = self._clock()

    def _keys_url(self) -> str:
        """Where its keys are (OpenID Connect Discovery 1.0, section 4). Raises what `_fetched` does."""
        if self._issuer.keys_url is not None:
            return self._issuer.keys_url
        about = _fetched(f"{self._issuer.url.rstrip('/')}/.well-known/openid-configuration")
        if about.get("issuer") != self._issuer.url:
            raise NotAnIssuer(f"it says that it is {about.get('issuer')!r}")
        return str(about.get("jwks_uri"))


class NotAnIssuer(Exception):
    """What was fetched is not what an OpenID Connect issuer answers."""


def _check_safe(url: str) -> None:
    """Nobody on the way may change what is fetched. Raises NotAnIssuer."""
    if not url.startswith(("https://", "http://127.0.0.1:")):
        raise NotAnIssuer(f"{url} is not https")


def _fetched(url: str) -> dict[str, Any]:
    """A JSON object from the issuer. Raises OSError, HTTPException, ValueError, NotStrictJson, NotAnIssuer."""
    _check_safe(url)
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310  # checked above
        _check_safe(answer.url)  # it may have been led elsewhere
        found = parsed(answer.read(MOST_BYTES))
    if not isinstance(found, dict):
        raise NotAnIssuer(f"{url} holds no JSON object")
    return found
