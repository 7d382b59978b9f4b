"""Threads and what they share, as a port: the simulation brings its own and steps them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock, Thread
from typing import Protocol


class Running(Protocol):
    def join(self) -> None:
        """Return when it has come to its end."""


class Threads(Protocol):
    def lock(self) -> AbstractContextManager[object]:
        """One thread at a time; the one that is in may come in again."""

    def start(self, name: str, run: Callable[[], None]) -> Running: ...


class RealThreads:
    def lock(self) -> AbstractContextManager[object]:
        return RLock()

    def start(self, name: str, run: Callable[[], None]) -> Running:
        thread = Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread


REAL_THREADS = RealThreads()
