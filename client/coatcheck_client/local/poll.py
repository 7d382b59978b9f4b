"""Waiting for a condition that tells nobody when it comes true."""

import time
from collections.abc import Callable

_EVERY_SECONDS = 0.05


def until(holds: Callable[[], bool], seconds: float) -> bool:
    """Ask until it holds; False if it never did within so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_EVERY_SECONDS)  # processes and servers that start or end call nobody back
    return True
