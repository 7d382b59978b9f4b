"""Puts the real handlers into the simulated world: what they take from AWS and the process, they take from here."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import jobs
from coatcheck import memory_objects, registry
from coatcheck.run import settings
from handlers import (
    bells,
    cancel,
    dispatcher,
    gateway,
    lists,
    operator,
    ports,
    recorder,
    status,
    submit,
    supervisor,
    ticker,
    unstarted,
    wake,
    worker,
)
from tests.simulation.lambdas import Handler, Sandbox
from tests.simulation.ports import Ports, SimMessagePort
from tests.simulation.world import LANES, World

KINDS = Path(__file__).parent / "kinds"
PART_BYTES = 8
"""Parts of 5 MiB would only cost time: the bucket here refuses what is smaller than this."""

DUE_SHARDS = 2
"""Walks over more would only cost time: two show what eight do."""

HANDLERS: dict[str, Handler] = {
    "submit": submit.handler,
    "status": status.handler,
    "cancel": cancel.handler,
    "operator": operator.handler,
    "ticker": ticker.handler,
    "dispatcher": dispatcher.handler,
    "recorder": recorder.handler,
    "wake": wake.handler,
    "unstarted": unstarted.handler,
    "supervisor": supervisor.handler,
    **{f"worker-{lane}": worker.handler for lane in LANES},
}
_worlds: list[World] = []


def world() -> World:
    """The world that is simulated now."""
    return _worlds[-1]


def here() -> Ports:
    """What the sandbox has that is running now."""
    return sandbox().ports


def sandbox() -> Sandbox:
    machine = world().scheduler.me.machine
    assert isinstance(machine, Sandbox)
    return machine


class Now(datetime):
    """The time of the machine that asks for it."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override] # noqa: ARG003  # a datetime, not a Now
        return here().clock.now()


@contextmanager
def playing(made: World) -> Iterator[None]:
    """Let a world be the one that the handlers live in."""
    _worlds.append(made)
    try:
        yield
    finally:
        _worlds.remove(made)


@contextmanager
def set_up() -> Iterator[None]:
    """Take the handlers out of their process, for as many worlds as are played meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "__path__", [*jobs.__path__, str(KINDS)])
        patch.setattr(memory_objects, "MINIMUM_PART_BYTES", PART_BYTES)
        for name in ("job", "load", "supervisor"):
            patch.setattr(sys.modules[f"coatcheck.{name}"], "DUE_SHARDS", DUE_SHARDS)
        patch.setattr(registry, "names", lambda: sandbox().kinds)
        patch.setattr(settings, "timings", lambda: world().timings)
        patch.setattr(settings, "lanes", lambda: LANES)
        patch.setattr(settings, "lane_queues", lambda: dict.fromkeys(LANES, ""))
        patch.setattr(settings, "routes", dict)
        patch.setattr(settings, "setting", _setting)
        for module in (cancel, dispatcher, lists, operator, recorder, status, submit, ticker, unstarted, wake, worker):
            if hasattr(module, "datetime"):
                patch.setattr(module, "datetime", Now)
        for module in (dispatcher, gateway, lists, operator, recorder, supervisor, ticker, unstarted, wake, worker):
            patch.setattr(module, "logger", _Log())
        entropy = SimpleNamespace(urandom=lambda number: world().random_bytes(number))
        for module in (submit, operator, ticker, worker):
            patch.setattr(module, "os", entropy)
        patch.setattr(supervisor, "_now", _now)
        patch.setattr(supervisor, "time", SimpleNamespace(sleep=_sleep))
        patch.setattr(supervisor, "tell", lambda *_: None)
        patch.setattr(wake, "sqs", lambda: None)
        patch.setattr(worker, "clients", SimpleNamespace(sqs=lambda *_: None, BRIEF=None))
        for module in (wake, worker):
            patch.setattr(module, "SqsMessage", _message)
        patch.setattr(worker, "_desk", lambda: here().desk)
        for name in ("jobs", "jobs_and_keys"):
            patch.setattr(ports, name, lambda: here().store)
        patch.setattr(submit, "admissions", lambda: here().admissions)
        patch.setattr(settings, "caps", lambda: world().caps)
        patch.setattr(ports, "objects", lambda: here().objects)
        patch.setattr(bells, "wake_queue", lambda: here().queues)
        patch.setattr(bells, "bell", lambda: here().bell)
        patch.setattr(ports, "pace", lambda: here().pace.seconds(here().clock.now()))
        patch.setattr(ports, "sign", lambda job_id, _: f"link-{job_id}")
        yield


def _now() -> datetime:
    return here().clock.now()


def _sleep(seconds: float) -> None:
    here().clock.sleep(seconds)


def _setting(name: str) -> str:
    """Every name stands for itself, but the lane of a worker's queue."""
    if name in (settings.LANE_QUEUE, settings.LANE):
        return here().desk.lane
    return "wake" if name == settings.WAKE_QUEUE else name


def _message(_: object, queue: str, receipt: str) -> SimMessagePort:
    return SimMessagePort(world(), queue, receipt)


class _Log:
    """The log of whatever world is played."""

    def __getattr__(self, name: str) -> Any:
        return getattr(world().log, name)
