"""How long clients wait for the API in the local stack: one after the other, and sixteen at once over a long queue."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles

from bench.results import record
from bench.stack import TENANT, live_stack
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

CLIENTS = 16
QUEUED = 2_000
ROUNDS = 40
"""Of submit, status and cancel, for each client."""

Taken = dict[str, list[float]]
"""Seconds by operation."""


def measure(live: LiveStack) -> dict[str, object]:
    """Percentiles in milliseconds. Nothing runs meanwhile: what is measured is the API, not the jobs."""
    with live.functions.paused_lane("bulk"):
        _rounds(live, ROUNDS)  # makes everything warm
        idle = _rounds(live, ROUNDS)
        _at_once(lambda: _submits(live, QUEUED // CLIENTS))
        _at_once(lambda: _rounds(live, 2))
        loaded: Taken = {}
        for taken in _at_once(lambda: _rounds(live, ROUNDS)):
            for operation, seconds in taken.items():
                loaded.setdefault(operation, []).extend(seconds)
    return {"clients": CLIENTS, "queued": QUEUED, "idle": _shown(idle), "loaded": _shown(loaded)}


def _at_once(work: Callable[[], Taken]) -> list[Taken]:
    with ThreadPoolExecutor(max_workers=CLIENTS) as clients:
        return [each.result() for each in [clients.submit(work) for _ in range(CLIENTS)]]


def _rounds(live: LiveStack, rounds: int) -> Taken:
    """What one client waits for: its next request follows the answer to the one before."""
    taken: Taken = {"submit": [], "status": [], "cancel": []}
    with live.client(TENANT) as client:
        for _ in range(rounds):
            started = time.monotonic()
            job_id = _submitted(client)
            submitted = time.monotonic()
            assert client.status(job_id)["state"] == "queued"
            seen = time.monotonic()
            assert client.request("DELETE", f"/v1/jobs/{job_id}").status == 200
            taken["submit"].append(submitted - started)
            taken["status"].append(seen - submitted)
            taken["cancel"].append(time.monotonic() - seen)
    return taken


def _submits(live: LiveStack, number: int) -> Taken:
    with live.client(TENANT) as client:
        for _ in range(number):
            _submitted(client)
    return {}


def _submitted(client: Client) -> str:
    return client.submit("probe", lane="bulk")


def _shown(taken: Taken) -> dict[str, dict[str, float]]:
    return {
        operation: {
            "p50_ms": round(1000 * median(seconds), 1),
            "p99_ms": round(1000 * quantiles(seconds, n=100, method="inclusive")[98], 1),
        }
        for operation, seconds in taken.items()
    }


def main() -> None:
    with live_stack() as live:
        measured = measure(live)
    record("latency", measured)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
