"""The authorizer: finds out whose API key or token it is. It never denies: the handlers answer problem documents."""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.api_key import bearer_token, identified
from coatcheck.run import settings
from coatcheck.run.oidc import Tokens
from coatcheck.store import Unavailable
from handlers import ports

logger = Logger()


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    header = (event.get("headers") or {}).get("authorization", "")
    return {"isAuthorized": True, "context": _identified(header)}


def _identified(header: str) -> dict[str, str]:
    token = bearer_token(header)
    tokens = _tokens() if token is not None else None
    if token is None or tokens is None:
        return identified(ports.tenants(), header)
    try:
        return tokens.identified(token)
    except Unavailable as error:
        logger.warning("an issuer does not answer", exc_info=error)
        return {"unavailable": "the issuer of this token does not answer, or not with its keys"}


@cache
def _tokens() -> Tokens | None:
    """Where an issuer's tokens are taken."""
    issuer = settings.issuer()
    return None if issuer is None else Tokens(issuer)
