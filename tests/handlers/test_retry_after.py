"""Retry-After, wherever an answer bears it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import handlers
from coatcheck.aws import clients
from coatcheck.job import State
from tests.coatcheck.cloud import BUSY, troubled
from tests.handlers.jobs_table import add_job, new_id, now
from tests.handlers.test_retry import retry
from tests.handlers.test_status import get
from tests.handlers.test_submit import PROBE, post
from tests.handlers.test_waiter import wait

pytestmark = pytest.mark.usefixtures("aws")

FUNCTIONS = Path(handlers.__path__[0]).parent


def running() -> str:
    return add_job(state=State.RUNNING, owner="owner-1", lease_until=now()).id


def in_trouble() -> dict[str, Any]:
    with troubled(clients.dynamodb(), *[BUSY] * 5):
        return post(PROBE)


def seen_already() -> dict[str, Any]:
    job_id = add_job().id
    return get(job_id, headers={"if-none-match": get(job_id)["headers"]["ETag"]})


ANSWERS: dict[str, tuple[int, Callable[[], dict[str, Any]]]] = {
    "accepted": (202, lambda: post(PROBE)),
    "accepted before": (202, lambda: [post(PROBE, key=key) for key in [new_id()] * 2][-1]),
    "tried again": (202, lambda: retry(add_job(state=State.FAILED, finished_at=now()).id)),
    "open": (200, lambda: get(running())),
    "waited for": (200, lambda: wait(running())),
    "seen already": (304, seen_already),
    "has no result yet": (409, lambda: get(running(), result=True)),
    "a service is in trouble": (503, in_trouble),
    "the issuer is silent": (503, lambda: post(PROBE, authorizer={"unavailable": "the issuer does not answer"})),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_retry_after_is_a_whole_number_of_seconds_and_at_least_one(name: str) -> None:
    status, ask = ANSWERS[name]
    answer = ask()
    assert answer["statusCode"] == status
    assert re.fullmatch(r"[1-9]\d{0,3}", answer["headers"]["Retry-After"])


def test_so_is_every_one_that_is_written_out() -> None:
    sources = "\n".join(file.read_text() for file in FUNCTIONS.rglob("*.py"))
    written = re.findall(r'"Retry-After": "(.*?)"', sources)
    assert len(written) >= 5
    assert all(re.fullmatch(r"[1-9]\d*", each) for each in written)
