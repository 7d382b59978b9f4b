"""A mutation: a guard of the product taken away by exact text."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mutation:
    name: str
    module: str
    old: str
    new: str
    scene: str | None = None
    """The test that catches it, from this folder on."""
