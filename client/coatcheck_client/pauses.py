"""Pauses of a deployment: what is held back, since when and by whom, and how many jobs wait for its end."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from coatcheck_client.deployment import Deployment
from coatcheck_client.operator import operate
from coatcheck_client.trouble import ExitCode, Trouble


class Scope(StrEnum):
    KIND = "kind"
    LANE = "lane"
    TENANT = "tenant"


@dataclass(frozen=True, kw_only=True)
class Pause:
    """`jobs`: those that are marked; one whose doorbell is still in its lane's queue is not yet."""

    scope: Scope
    name: str
    by: str
    at: str
    jobs: int


@dataclass(frozen=True, kw_only=True)
class Pauses:
    """What is held, and what was resumed and still has its jobs woken."""

    held: list[Pause]
    resumed: list[Pause]

    def waiting(self, scope: Scope, name: str) -> int:
        """How many jobs wait for something that was resumed."""
        return sum(each.jobs for each in self.resumed if (each.scope, each.name) == (scope, name))


class PauseRefused(Trouble):
    exit_code = ExitCode.USAGE


def paused(deployment: Deployment) -> Pauses:
    """Raises OperatorFailed."""
    return _told(operate(deployment, "pauses"))


def pause(deployment: Deployment, scope: Scope, name: str) -> Pauses:
    """Raises PauseRefused, OperatorFailed."""
    return _told(operate(deployment, "pause", scope=scope, name=name))


def resume(deployment: Deployment, scope: Scope, name: str) -> Pauses:
    """Raises PauseRefused, OperatorFailed."""
    return _told(operate(deployment, "resume", scope=scope, name=name))


def _told(answer: dict[str, Any]) -> Pauses:
    if "refused" in answer:
        raise PauseRefused(answer["refused"])
    return msgspec.convert(answer, Pauses)
