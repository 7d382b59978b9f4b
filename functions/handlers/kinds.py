"""GET /v1/kinds and GET /openapi.json: what can be asked for."""

from aws_lambda_powertools import Logger
from msgspec import to_builtins

from coatcheck.catalogue import kind_list, loaded_kinds
from handlers.gateway import HttpAnswer, HttpRequest

logger = Logger()


def kinds(request: HttpRequest) -> HttpAnswer:
    _ = request.caller  # who is not known is refused here, too
    return HttpAnswer(status=200, body=to_builtins(kind_list(_log_broken_kind)))


def openapi(request: HttpRequest) -> HttpAnswer:  # noqa: ARG001  # the same for everybody
    from coatcheck.openapi import openapi as described  # a submit does not pay for it

    return HttpAnswer(status=200, body=described(loaded_kinds(_log_broken_kind)))


def _log_broken_kind(name: str, error: Exception) -> None:
    logger.error("a kind cannot be loaded", kind=name, exc_info=error)
