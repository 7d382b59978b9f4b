"""The addresses of the API: which methods each takes, and which function answers. Kinds add their own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Route:
    """A path as API Gateway writes it. `public`: no credential is asked for."""

    path: str
    methods: tuple[str, ...]
    function: str
    public: bool = False


ROUTES = (
    Route(path="/v1/jobs", methods=("POST",), function="submit"),
    Route(path="/v1/jobs", methods=("GET",), function="status"),
    Route(path="/v1/jobs/{id}", methods=("GET", "HEAD"), function="status"),
    Route(path="/v1/jobs/{id}", methods=("DELETE",), function="cancel"),
    Route(path="/v1/jobs/{id}/result", methods=("GET", "HEAD"), function="status"),
    Route(path="/v1/jobs/{id}/retry", methods=("POST",), function="submit"),
    Route(path="/v1/jobs/{id}/history", methods=("GET",), function="status"),
    Route(path="/v1/jobs/{id}/wait", methods=("GET",), function="waiter"),
    Route(path="/v1/results/{token}", methods=("GET", "HEAD"), function="status", public=True),
    Route(path="/v1/kinds", methods=("GET",), function="submit"),
    Route(path="/openapi.json", methods=("GET",), function="submit", public=True),
    Route(path="/v1/health", methods=("GET",), function="status", public=True),
)


def kind_route(path: str) -> Route:
    """The route that a kind has of its own."""
    return Route(path=path, methods=("POST",), function="submit")


def methods_at(path: str, routes: Iterable[Route]) -> frozenset[str]:
    """The methods that an address takes; none, if there is nothing."""
    return frozenset(method for route in routes if _fits(route.path, path) for method in route.methods)


def _fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path) is not None
