"""The published document and the live stack agree: its examples are run, and requests are made up from it."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from jsonschema import Draft202012Validator

from coatcheck_client.api import Answer
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

ROOT = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs" / "openapi.json").read_text())
TENANT = "hill-spices"
UNTRUE_CHECKS = "positive_data_acceptance,use_after_free"
"""A lane that this deployment lacks or a time too far ahead is refused, which no schema can say; and DELETE cancels a
job, which is still there afterwards."""


@pytest.fixture
def spices(live: LiveStack) -> Iterator[Client]:
    """A tenant that no other test uses."""
    with live.client(TENANT) as client:
        yield client


def test_the_document_that_is_served_is_the_published_one(client: Client) -> None:
    assert client.request("GET", "/openapi.json").document == DOCUMENT


@pytest.mark.parametrize("path", [path for path, methods in DOCUMENT["paths"].items() if "post" in methods])
def test_every_example_of_a_body_becomes_a_job_that_succeeds(client: Client, path: str) -> None:
    operation = DOCUMENT["paths"][path]["post"]
    for name, body in bodies(operation).items():
        answer = client.request("POST", path, json=body)
        assert (answer.status, answer.document.get("kind")) == (202, name), answer.body
        assert faults(answer, operation) == []
        assert client.wait_final(answer.document["id"], within=60)["state"] == "succeeded"


def test_every_example_of_a_parameter_is_taken(client: Client) -> None:
    done = client.submit("probe")
    client.wait_state(done, "succeeded", within=30)
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            for parameter in (each for each in operation["parameters"] if "example" in each):
                name, example, in_query = parameter["name"], parameter["example"], parameter["in"] == "query"
                answer = client.request(
                    method.upper(),
                    path.replace("{id}", done) + (f"?{urlencode({name: example}, doseq=True)}" if in_query else ""),
                    json=next(iter(bodies(operation).values()), None),
                    headers={} if in_query else {name: example},
                )
                # both ways to hand in a job show one key: whatever comes second is another request
                assert answer.status < 300 or (answer.status == 422 and name == "Idempotency-Key"), answer.body
                assert faults(answer, operation) == []


def test_made_up_requests_get_described_answers_and_break_nothing(
    live: LiveStack, spices: Client, tmp_path: Path
) -> None:
    fuzz(live, spices, tmp_path, "--phases=coverage,fuzzing", "--max-examples=6", "--seed=1")


@pytest.mark.soak
def test_made_up_requests_go_on_for_minutes(
    live: LiveStack, spices: Client, tmp_path: Path, soak_seconds: float
) -> None:
    fuzz(live, spices, tmp_path, f"--max-time={round(soak_seconds)}")


def fuzz(live: LiveStack, client: Client, folder: Path, *options: str) -> None:
    """Let schemathesis make requests up. No lane runs what it hands in, and in the end all of that is cancelled."""
    ends = (("succeeded", {"result_bytes": 16}), ("failed", {"fail_times": 1, "fail_with": "permanent"}))
    ended = [client.submit("probe", args) for _, args in ends]
    for job_id, (state, _) in zip(ended, ends, strict=True):
        client.wait_state(job_id, state, within=30)
    key = next(known.api_key for known in live.stack.tenants if known.tenant == TENANT)
    (folder / "schemathesis.toml").write_text(f'[auth.openapi.key]\nbearer = "{key}"\n')
    file = folder / "openapi.json"
    with live.functions.paused_lane("interactive"), live.functions.paused_lane("bulk"):
        waiting = [client.submit("probe"), client.submit("probe", lane="bulk")]
        page = client.request("GET", "/v1/jobs?limit=1").next
        assert page is not None
        known = {
            "id": [*ended, *waiting],
            "token": [client.status(ended[0])["result"]["url"].rpartition("/")[2]],
            "cursor": [page.partition("cursor=")[2]],
        }
        file.write_text(json.dumps(with_values(known, ended)))
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "--no-color",
            "run",
            str(file),
            f"--url={live.stack.api_url}",
            f"--exclude-checks={UNTRUE_CHECKS}",
            "--warnings=off",
            "--generation-database=none",
            "--request-timeout=30",
            "--continue-on-failure",
            *options,
        ]
        environment = {
            **os.environ,
            "SCHEMATHESIS_HOOKS": "tests.e2e.contract_hooks",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "functions")]),
        }
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        cancel_open(client)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr


def with_values(known: Mapping[str, list[str]], ended: list[str]) -> dict[str, Any]:
    """The document with values of parameters that exist; a wait for what has ended holds nothing up.

    The tenant's key may name no tenant: whatever does is refused before anything else is looked at.
    """
    document = copy.deepcopy(DOCUMENT)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            operation["parameters"] = [each for each in operation["parameters"] if each["name"] != "Coatcheck-Tenant"]
            for parameter in (each for each in operation["parameters"] if each["name"] in known):
                values = ended if path.endswith("/wait") else known[parameter["name"]]
                parameter["schema"] = {"type": "string", "enum": values}
    return document


def cancel_open(client: Client) -> None:
    path: str | None = "/v1/jobs?state=queued&limit=100"
    while path is not None:
        page = client.request("GET", path)
        for job in page.document["items"]:
            assert client.request("DELETE", f"/v1/jobs/{job['id']}").status == 200
        path = page.next


def bodies(operation: Mapping[str, Any]) -> dict[str, Any]:
    """The examples of an operation's body, by their names."""
    shown = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return {name: example["value"] for name, example in shown.get("examples", {}).items()}


def faults(answer: Answer, operation: Mapping[str, Any]) -> list[str]:
    """What about an answer is not as its operation describes it."""
    described = operation["responses"].get(str(answer.status))
    if described is None:
        return [f"{answer.status} is not described"]
    missing = [
        name for name, each in described["headers"].items() if "required" in each and name.lower() not in answer.headers
    ]
    if "content" not in described:
        return missing
    schema = described["content"][answer.headers["content-type"]]["schema"]
    check = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return missing + [fault.message for fault in check.iter_errors(json.loads(answer.body))]
