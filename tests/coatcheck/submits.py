"""Submits as tests make them."""

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from threading import Barrier, Lock, Thread
from typing import Any

from coatcheck.caller import Caller
from coatcheck.job import Job, State, job_of
from coatcheck.memory import MemoryStore
from coatcheck.request import Request, Terms
from coatcheck.row import Row
from coatcheck.store import Store
from coatcheck.submission import Accepted, submit
from coatcheck.write import Key, Table, update
from tests.coatcheck.rows import NOW, TIMINGS

ACME = Caller(tenant="acme", name="key …abcd")
_numbers = count(1)
_lock = Lock()


def numbered(size: int) -> bytes:
    """Random bytes of which no two are equal."""
    with _lock:
        return next(_numbers).to_bytes(size, "big")


TERMS = Terms(timings=TIMINGS, lanes=("interactive", "bulk"), random=numbered)


def asked(
    store: Store,
    args: Mapping[str, object] | None = None,
    *,
    kind: str = "probe",
    key: str | None = None,
    caller: Caller = ACME,
    now: datetime = NOW,
    terms: Terms = TERMS,
    **fields: object,
) -> Accepted:
    """Ask for a job, as POST /v1/jobs does."""
    body: dict[str, object] = {"kind": kind} | ({} if args is None else {"args": args}) | fields
    return submit(store, terms, caller, Request(fields=body, key=key), now)


def jobs_in(store: MemoryStore) -> list[Job]:
    return [job_of(row) for key, row in store.rows.items() if key.table is Table.JOBS and key.item == "job"]


def keys_in(store: MemoryStore) -> dict[Key, Row]:
    return {key: row for key, row in store.rows.items() if key.table is Table.IDEMPOTENCY}


def move(store: Store, job: Job, state: State) -> None:
    store.write(update(job.key, (), {"state": state}))


def at_once(times: int, call: Any) -> Sequence[Any]:
    """Call something from many threads at the same moment; the results, exceptions among them."""
    barrier, results = Barrier(times), []

    def run(number: int) -> None:
        barrier.wait(10)
        try:
            results.append(call(number))
        except Exception as error:  # noqa: BLE001  # it is looked at by the test
            results.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(times)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # let them get in each other's way
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    finally:
        sys.setswitchinterval(interval)
    return results
