"""The authorizer: finds out whose API key it is. It never denies: the handlers answer problem documents."""

from typing import Any

from aws_lambda_powertools import Logger

from coatcheck.api_key import identified
from handlers import ports

logger = Logger()


def handler(event: dict[str, Any], context: Any) -> dict[str, object]:  # noqa: ARG001  # Lambda's signature
    header = (event.get("headers") or {}).get("authorization", "")
    return {"isAuthorized": True, "context": identified(ports.tenants(), header)}
