"""Cold handlers of the API, from import to the first answer, against importing boto3 and making a client."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.results import record
from bench.stack import TENANT, live_stack
from coatcheck_client.local.emulator import ROOT_ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY
from tests.e2e.live import LiveStack

ROUNDS = 11
DUMMIES = 20
DUMMY = '''"""A kind like many others."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from coatcheck import JobContext, Meta, Result, Retry, job


@dataclass(frozen=True, kw_only=True)
class Args:
    """What it works on."""

    customer: Annotated[str, Meta(pattern=r"^[a-z0-9]{{1,20}}$")]
    rows: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    tags: tuple[str, ...] = ()


@job(route="/v1/dummies/{number}", timeout=timedelta(minutes=30), retry=Retry(failures=3))
def dummy_{number}(ctx: JobContext, args: Args) -> Result:
    ctx.progress(done=1, total=args.rows)
    return Result(rows=args.rows)
'''
BARE = """
import time
started = time.perf_counter()
import boto3
boto3.client("dynamodb")
print(time.perf_counter() - started)
"""
COLD = """
import json, os, sys, time
event = json.loads(sys.argv[2])
answers = os.dup(1)
os.dup2(2, 1)  # the function logs to stdout
started = time.perf_counter()
handler = __import__("handlers." + sys.argv[1], fromlist=["handler"]).handler
answer = handler(event, None)
took = time.perf_counter() - started
assert answer["statusCode"] in (200, 202), answer
os.write(answers, str(took).encode())
"""


def measure(live: LiveStack) -> dict[str, object]:
    """Medians in milliseconds, and their ratios to the bare start."""
    with live.client(TENANT) as client:
        job_id = client.submit("probe", key="cold-start")
        client.wait_state(job_id, "succeeded", within=60)
    who = {"authorizer": {"lambda": {"tenant": TENANT, "name": "key …benc"}}}
    programs = {
        "bare": [BARE],
        "submit": [
            COLD,
            "submit",
            json.dumps(_event("POST /v1/jobs", who, body='{"kind": "dummy-7", "args": {"customer": "c1"}}')),
        ],
        "status": [COLD, "status", json.dumps(_event("GET /v1/jobs/{id}", who, id=job_id))],
    }
    took: dict[str, list[float]] = {name: [] for name in programs}
    with TemporaryDirectory(prefix="coatcheck-bench-") as folder:
        functions = _with_dummies(live, Path(folder))
        for round_ in range(ROUNDS + 1):
            for name, (program, *arguments) in programs.items():
                environment = _environment(live, "submit" if name == "bare" else name, functions)
                run = [sys.executable, "-c", program, *arguments]
                seconds = float(
                    subprocess.run(
                        run,
                        env=environment,
                        cwd=functions,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        check=True,
                    ).stdout
                )
                if round_:  # the first compiles the modules
                    took[name].append(seconds)
    medians = {name: median(seconds) for name, seconds in took.items()}
    return {
        **{f"{name}_ms": round(1000 * seconds, 1) for name, seconds in medians.items()},
        **{f"{name}_ratio": round(medians[name] / medians["bare"], 3) for name in ("submit", "status")},
    }


def _with_dummies(live: LiveStack, folder: Path) -> Path:
    """The functions' folder with more kinds in it."""
    functions = folder / "functions"
    shutil.copytree(live.project.root / "functions", functions, ignore=shutil.ignore_patterns("__pycache__"))
    for number in range(DUMMIES):
        (functions / "jobs" / f"dummy_{number}.py").write_text(DUMMY.format(number=number))
    return functions


def _environment(live: LiveStack, function: str, functions: Path) -> dict[str, str]:
    """What the deployed function has in its environment, and what Lambda would add."""
    deployed = live.functions.configuration(function)["Environment"]["Variables"]
    own = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(functions),
        "AWS_ENDPOINT_URL": live.stack.aws_endpoint_url,
        "AWS_DEFAULT_REGION": live.stack.region,
        "AWS_ACCESS_KEY_ID": ROOT_ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": ROOT_SECRET_ACCESS_KEY,
    }
    return {**deployed, **own}


def _event(route: str, context: Mapping[str, object], *, body: str | None = None, **path: str) -> dict[str, object]:
    """A request as API Gateway hands it over, payload format 2.0."""
    method, _, template = route.partition(" ")
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": template.format(**path),
        "headers": {"content-type": "application/json"},
        "pathParameters": path,
        "queryStringParameters": {"redirect": "false"},
        "requestContext": {**context, "http": {"method": method}, "requestId": "cold-start"},
        "body": body,
        "isBase64Encoded": False,
    }


def main() -> None:
    with live_stack() as live:
        measured = measure(live)
    record("cold-start", measured)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
