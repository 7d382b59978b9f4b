"""How many AWS calls things cost, counted inside the functions of a local stack."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from bench.results import record
from bench.stack import TENANT, live_stack
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

SHORT = {"checkpoint": False}
BEATS = 3
LONGER = {"checkpoint": False, "seconds": 1.5 * BEATS + 0.7}
"""Long enough for BEATS heartbeats of the local stage."""


def measure(live: LiveStack, client: Client) -> dict[str, object]:
    """Calls of each step of a whole short job, warm, and of one heartbeat. Authorizer and polls are not counted.

    The recorder has a budget of its own.
    """
    _job(live, client, SHORT)  # makes everything warm
    short, longer = _job(live, client, SHORT), _job(live, client, LONGER)
    return {
        "submit": _sum(short["submit"]),
        "status": _sum(short["status"]),
        "dispatch": _sum(short["Send"]),
        "claim_to_settle": _sum(short["probe"]),
        "conclude": _sum(short["Conclude"]),
        "whole_short_job": sum(_sum(calls) for step, calls in short.items() if step not in ("status", "Record")),
        "recorder": _sum(short["Record"]),
        "heartbeat": round((_sum(longer["probe"]) - _sum(short["probe"])) / BEATS, 2),
        "short_job_by_operation": dict(sum((c for s, c in short.items() if s not in ("status", "Record")), Counter())),
    }


def _job(live: LiveStack, client: Client, args: Mapping[str, object]) -> dict[str, Counter[str]]:
    """Run one job; its calls by step."""
    answer = client.post("probe", dict(args))
    job_id = str(answer.document["id"])
    client.wait_state(job_id, "succeeded", within=60)
    live.wait_for(lambda: "due" not in (live.row(job_id) or {"due": 1}), within=30)
    status = client.request("GET", f"/v1/jobs/{job_id}?redirect=false")
    requests = {
        answer.headers["coatcheck-request-id"]: "submit",
        status.headers["coatcheck-request-id"]: "status",
    }
    return live.wait_for(lambda: _complete(live, job_id, requests), within=30)


def _complete(live: LiveStack, job_id: str, requests: Mapping[str, str]) -> dict[str, Counter[str]]:
    """The calls by step, once every step has logged its own."""
    lines: list[dict[str, Any]] = [
        json.loads(text) for text in live.log_lines() if text.startswith("{") and '"calls"' in text
    ]
    found: dict[str, Counter[str]] = {}
    for line in lines:
        if line.get("job_id") == job_id:
            found.setdefault(line.get("step") or line["kind"], Counter()).update(line["calls"])
        elif line.get("request_id") in requests:
            found.setdefault(requests[line["request_id"]], Counter()).update(line["calls"])
    steps = {"submit", "status", "Send", "probe", "Conclude", "Record"}
    return found if steps <= set(found) and {"dynamodb.PutItem", "dynamodb.UpdateItem"} <= set(found["Record"]) else {}


def _sum(calls: Counter[str]) -> int:
    return sum(calls.values())


def main() -> None:
    with live_stack() as live, live.client(TENANT) as client:
        measured = measure(live, client)
    record("aws-calls", measured)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
