"""What caps cost and what they are for, in a local stack: jobs a second, and who waits beside a noisy tenant."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from itertools import chain
from statistics import median, quantiles

from bench.results import record
from bench.stack import TENANT, live_stack
from coatcheck.limiter import MOST_SLOTS, Caps
from coatcheck_client.api import Document
from infra.config import CONFIGS, Stage
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

ROUNDS = 3
JOBS = 30
"""Of each tenant in a round."""

LENGTHS = {"no length": {}, "a second": {"seconds": 1}}
"""Of the jobs: those that succeed at once show what the platform costs, the others whether workers wait for it."""

NO_CAPS = Caps()
OWN_CAPS = Caps(lanes=CONFIGS[Stage.LOCAL].caps)
ARMS = {
    "none": NO_CAPS,
    "never full": Caps(lanes={"interactive": MOST_SLOTS}),
    "always full": OWN_CAPS,
}
"""The caps of a round: what slots cost by themselves, and what it costs if nearly every job has to wait for one."""

NOISY_JOBS = 200
QUIET_JOBS = 20
NOISY_WORK = {"seconds": 3}
QUIET_WORK = {"seconds": 0.5}
PATIENCE_SECONDS = 300
A_SECOND = timedelta(seconds=1)
"""Whoever waits for less has not waited."""


def measure(live: LiveStack) -> dict[str, object]:
    """Throughput in jobs a second, medians of rounds side by side; waits of quiet tenants' jobs, the p95 in seconds."""
    with ExitStack() as stack:
        tenants = [stack.enter_context(live.client(known.tenant)) for known in live.stack.tenants]
        speeds: dict[str, dict[str, list[float]]] = {length: {name: [] for name in ARMS} for length in LENGTHS}
        for number in range(ROUNDS):
            print(f"round {number + 1} of {ROUNDS}", flush=True)
            for name, caps in ARMS.items():
                with _told(live, tenants, caps):
                    for length, args in LENGTHS.items():
                        speeds[length][name].append(_throughput(tenants, args))
        noisy = stack.enter_context(live.client(TENANT))
        quiet = [client for client, known in zip(tenants, live.stack.tenants, strict=True) if known.tenant != TENANT]
        print("a noisy tenant", flush=True)
        with _told(live, tenants, OWN_CAPS):
            alone = _wait_beside(noisy, quiet, 0)
            beside = _wait_beside(noisy, quiet, NOISY_JOBS)
        with _told(live, tenants, NO_CAPS):
            beside_uncapped = _wait_beside(noisy, quiet, NOISY_JOBS)
    return {
        "jobs_per_second": {
            length: {name: round(median(each), 1) for name, each in arms.items()} for length, arms in speeds.items()
        },
        "throughput_ratio": {length: _ratios(arms) for length, arms in speeds.items()},
        "quiet_p95_wait_alone": alone,
        "quiet_p95_wait_beside_noisy": beside,
        "quiet_p95_wait_beside_noisy_uncapped": beside_uncapped,
    }


def _ratios(arms: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Of each arm to the one without caps in the same round, the median."""
    return {
        name: round(median(one / other for one, other in zip(each, arms["none"], strict=True)), 3)
        for name, each in arms.items()
    }


@contextmanager
def _told(live: LiveStack, tenants: Sequence[Client], caps: Caps) -> Iterator[None]:
    """Everything that knows of caps knows of these meanwhile. Its processes are new ones, so they are warmed up."""
    with live.functions.caps(caps):
        _throughput(tenants, {}, jobs=5)
        yield


def _throughput(tenants: Sequence[Client], args: Mapping[str, float], *, jobs: int = JOBS) -> float:
    """Jobs a second, from the first one accepted to the last one finished."""
    with ThreadPoolExecutor(len(tenants)) as pool:
        submitted = list(pool.map(lambda client: [client.submit("probe", args) for _ in range(jobs)], tenants))
    done = list(chain(*map(_finished, tenants, submitted)))
    return len(done) / (max(map(_end, done)) - min(map(_accepted, done))).total_seconds()


def _wait_beside(noisy: Client, quiet: Sequence[Client], noisy_jobs: int) -> float:
    """How long quiet tenants' jobs wait, the p95 in seconds, while the noisy one has so many in line."""
    with ThreadPoolExecutor() as pool:  # faster than they are worked off
        line = list(pool.map(lambda _: noisy.submit("probe", NOISY_WORK), range(noisy_jobs)))
    waits: list[timedelta] = []
    for number in range(QUIET_JOBS):
        client = quiet[number % len(quiet)]
        (done,) = _finished(client, [client.submit("probe", QUIET_WORK)])
        waits.append(max(A_SECOND, datetime.fromisoformat(done["started_at"]) - _accepted(done)))
    for job_id in line:
        noisy.request("DELETE", f"/v1/jobs/{job_id}")
    _finished(noisy, line)
    return round(quantiles((wait.total_seconds() for wait in waits), n=20, method="inclusive")[-1], 2)


def _finished(client: Client, ids: Sequence[str]) -> list[Document]:
    return [client.wait_final(job_id, within=PATIENCE_SECONDS) for job_id in ids]


def _accepted(document: Document) -> datetime:
    return datetime.fromisoformat(document["created_at"])


def _end(document: Document) -> datetime:
    return datetime.fromisoformat(document["finished_at"])


def main() -> None:
    with live_stack() as live:
        measured = measure(live)
    record("caps", measured)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
