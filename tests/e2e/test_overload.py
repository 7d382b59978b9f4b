"""Admission on the live stack: floods are refused with an honest wait, nothing accepted is lost, the rest goes on."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

from coatcheck.tenant_limits import TenantLimits
from coatcheck_client import keys
from coatcheck_client.api import Answer
from coatcheck_client.client import Coatcheck, new_key
from coatcheck_client.tenants import set_limits
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

SLACK_SECONDS = 0.2
"""A wait is told in whole seconds, and begins when the answer is made."""


@contextmanager
def newcomer(live: LiveStack, limits: TenantLimits) -> Iterator[Client]:
    """A tenant whose limits no process has looked up yet."""
    tenant, key = f"newcomer-{new_key()[:8]}", keys.new_key_text()
    keys.create(live.deployment, tenant, key, now=datetime.now(UTC))
    known = set_limits(live.deployment, tenant, limits)
    assert known.tenants[0].limits == limits
    with Coatcheck(live.stack.api_url, key) as library:
        yield Client(library)


def problem_type(answer: Answer) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    assert 1 <= int(answer.headers["retry-after"]) <= 300
    return str(answer.document["type"]).rpartition(":")[2]


def insist(client: Client, key: str, label: str) -> tuple[str, list[Answer]]:
    """Hand a job in as a patient client does; its id, and the refusals on the way."""
    refusals: list[Answer] = []
    while (answer := client.post("probe", key=key, labels={"flood": label})).status != 202:
        refusals.append(answer)
        assert answer.status == 429, answer.body.decode()
        time.sleep(int(answer.headers["retry-after"]) + SLACK_SECONDS)
    return str(answer.document["id"]), refusals


def test_a_flood_is_refused_beyond_its_rate_and_whoever_waits_as_told_gets_a_job(
    live: LiveStack, client: Client
) -> None:
    with newcomer(live, TenantLimits(requests_per_second=1, burst=5)) as flooder:
        _flood(flooder, client)


def _flood(flooder: Client, client: Client) -> None:
    label, asked = new_key(), [new_key() for _ in range(16)]
    begin = time.monotonic()
    with ThreadPoolExecutor(max_workers=4) as pool:
        done = list(pool.map(lambda key: insist(flooder, key, label), asked))
        took = time.monotonic() - begin
    ids = [job_id for job_id, _ in done]
    refusals = [answer for _, each in done for answer in each]
    assert len(set(ids)) == 16
    assert {problem_type(answer) for answer in refusals} == {"rate-limit"}
    assert took >= 16 - 5 - 1  # no faster than the limit: five at once, and one a second

    assert client.post("probe").status == 202  # another tenant
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda _: flooder.post("probe"), range(24)))
    full = [answer for answer in answers if answer.status == 429][-1]
    assert problem_type(full) == "rate-limit"
    replay = flooder.post("probe", key=asked[0], labels={"flood": label})
    assert (replay.status, replay.document["id"]) == (202, ids[0])
    assert replay.headers["idempotent-replayed"] == "true"
    time.sleep(int(full.headers["retry-after"]) + SLACK_SECONDS)
    assert flooder.post("probe").status == 202  # nobody else came, so the wait was long enough

    for job_id in ids:
        assert flooder.wait_final(job_id, within=90)["state"] == "succeeded"
    listed = flooder.request("GET", f"/v1/jobs?label=flood:{label}&limit=100").document["items"]
    assert sorted(each["id"] for each in listed) == sorted(ids)


def test_with_its_workers_away_a_tenant_fills_up_and_is_let_in_again_when_they_are_done(live: LiveStack) -> None:
    with newcomer(live, TenantLimits(open_jobs=20)) as flooder:
        with live.functions.paused_lane("bulk"):
            ids: list[str] = []
            while (answer := flooder.post("probe", lane="bulk")).status == 202:
                ids.append(str(answer.document["id"]))
                assert len(ids) <= 40, "nobody is ever refused"
            assert problem_type(answer) == "open-jobs-limit"
            assert "20 open jobs" in answer.document["detail"]
            assert len(ids) >= 20
            assert flooder.status(ids[-1])["state"] == "queued"
            assert flooder.request("DELETE", f"/v1/jobs/{ids[-1]}").status == 200
        for job_id in ids[:-1]:
            assert flooder.wait_final(job_id, within=60)["state"] == "succeeded"
        waits: list[int] = []
        while (answer := flooder.post("probe", lane="bulk")).status == 429:
            waits.append(int(answer.headers["retry-after"]))
            assert sum(waits) <= 60, waits
            time.sleep(waits[-1])
        assert answer.status == 202
        assert len(waits) <= 1  # what was told was long enough
