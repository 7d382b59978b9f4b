"""The platform's whole chain beside two chains without rules, in one local stack: what do the rules cost?

`calls` makes the invocations and AWS calls of a job that has a cap and decides nothing; `bare` only the hops from the
API to the row, the stream, the queue, the function and the row. The jobs have no length: what is measured is the chain.
"""

import io
import json
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import urllib3

from bench.aws_calls import SHORT
from bench.results import record
from bench.stack import TENANT, live_stack
from coatcheck.limiter import MOST_SLOTS, Caps
from coatcheck_client.local.emulator import ACCOUNT
from tests.e2e.client import Client
from tests.e2e.live import LiveStack

FUNCTIONS = Path(__file__).with_name("chain_functions.py")
ROUNDS = 3
JOBS = 80
ALONE = 20
CLIENTS = 4
PATIENCE_SECONDS = 120.0
WARM_UP = 10
NEVER_FULL = Caps(lanes={"interactive": MOST_SLOTS})
"""So that a job takes its slot and frees it, and waits for none."""

Submit = Callable[[], str]
"""Hand in a job; its id."""

Spans = Callable[[list[str]], list[tuple[float, float]]]
"""When each job was accepted and finished, in seconds, once all are."""


@dataclass(frozen=True)
class Arm:
    submit: Submit
    spans: Spans


def measure(arms: dict[str, Arm]) -> dict[str, object]:
    """How fast jobs go one by one and all at once: medians of rounds side by side, and the platform's ratio to each."""
    for arm in arms.values():
        _at_once(arm, WARM_UP)
    measured: dict[str, object] = {}
    for way, jobs in ((_one_by_one, ALONE), (_at_once, JOBS)):
        speeds: dict[str, list[float]] = {name: [] for name in arms}
        for number in range(ROUNDS):
            print(f"{way.__name__.strip('_').replace('_', ' ')}: round {number + 1} of {ROUNDS}", flush=True)
            for name, arm in arms.items():
                speeds[name].append(way(arm, jobs))
        own = speeds["coatcheck"]
        measured[way.__name__.strip("_")] = {
            "jobs_per_second": {name: round(median(each), 1) for name, each in speeds.items()},
            "ratio_to_calls": _ratio(own, speeds["calls"]),
            "ratio_to_bare": _ratio(own, speeds["bare"]),
        }
    return measured


def _one_by_one(arm: Arm, jobs: int) -> float:
    """Jobs a second as somebody sees them who hands in one after the other: from before the POST to the end."""
    seconds = []
    for _ in range(jobs):
        began = time.time()
        ((_, end),) = arm.spans([arm.submit()])
        seconds.append(end - began)
    return 1 / median(seconds)


def _at_once(arm: Arm, jobs: int) -> float:
    """Jobs a second from the first one accepted to the last one finished."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        ids = list(pool.map(lambda _: arm.submit(), range(jobs)))
    spans = arm.spans(ids)
    return jobs / (max(end for _, end in spans) - min(begin for begin, _ in spans))


def _ratio(own: list[float], other: list[float]) -> float:
    return round(median(one / another for one, another in zip(own, other, strict=True)), 3)


def platform(client: Client) -> Arm:
    def spans(ids: list[str]) -> list[tuple[float, float]]:
        done = [client.wait_final(job_id, within=PATIENCE_SECONDS) for job_id in reversed(ids)]
        return [(_seconds(each["created_at"]), _seconds(each["finished_at"])) for each in done]

    return Arm(submit=lambda: client.submit("probe", SHORT), spans=spans)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@dataclass(frozen=True)
class Chain:
    """A chain of its own beside the platform: a table with a stream, a queue, four functions and an API."""

    live: LiveStack
    calls: str
    """`calls` or `bare`."""

    @property
    def name(self) -> str:
        return f"chain-{self.calls}"

    def client(self, service: str) -> Any:
        return self.live.session.client(service, endpoint_url=self.live.stack.aws_endpoint_url)  # type: ignore[call-overload]  # by name

    def arm(self) -> Arm:
        """Make it all. Its end is that of the stack."""
        table, queue, functions = self._table(), self._queue(), self.client("lambda")
        told = {"TABLE": self.name, "QUEUE": queue, "CALLS": self.calls}
        arns = {each: self._function(each, told) for each in ("submit", "dispatch", "work", "record")}
        for consumer, events, states in (
            ("dispatch", ["INSERT", "MODIFY"], ["queued", "done"]),
            *([] if self.calls == "bare" else [("record", ["MODIFY"], ["running", "done"])]),
        ):
            counts = {"item": {"S": ["job"]}, "wrote": {"S": ["transition"]}, "state": {"S": states}}
            functions.create_event_source_mapping(
                FunctionName=arns[consumer],
                EventSourceArn=table,
                StartingPosition="TRIM_HORIZON",
                FilterCriteria={
                    "Filters": [{"Pattern": json.dumps({"eventName": events, "dynamodb": {"NewImage": counts}})}]
                },
                **self._as_of("dispatcher", "BatchSize", "ParallelizationFactor", "FunctionResponseTypes"),
            )
        functions.create_event_source_mapping(
            FunctionName=arns["work"],
            EventSourceArn=f"arn:aws:sqs:{self.live.stack.region}:{ACCOUNT}:{self.name}",
            **self._as_of("worker-interactive", "BatchSize", "ScalingConfig", "FunctionResponseTypes"),
        )
        http, url = urllib3.PoolManager(retries=False, maxsize=CLIENTS), self._api(arns["submit"])

        def submit() -> str:
            answer = http.request("POST", url, json={"kind": "probe", "args": {}})
            assert answer.status == 202, answer.data
            return str(answer.json()["id"])

        return Arm(submit=submit, spans=self._spans)

    def _spans(self, ids: list[str]) -> list[tuple[float, float]]:
        dynamodb = self.client("dynamodb")

        def row(job_id: str) -> dict[str, dict[str, str]]:
            found = dynamodb.get_item(TableName=self.name, Key={"id": {"S": job_id}, "item": {"S": "job"}})["Item"]
            return dict(found) if found["state"]["S"] == "done" else {}

        done = [self.live.wait_for(partial(row, job_id), within=PATIENCE_SECONDS) for job_id in reversed(ids)]
        return [(float(each["created_at"]["S"]), float(each["finished_at"]["S"])) for each in done]

    def _as_of(self, function: str, *names: str) -> dict[str, Any]:
        """How the platform's own function is fed."""
        mappings = self.client("lambda").list_event_source_mappings()["EventSourceMappings"]
        (own,) = [each for each in mappings if each["FunctionArn"].endswith(function)]
        return {name: own[name] for name in names if own.get(name)}

    def _table(self) -> str:
        made = self.client("dynamodb").create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "item", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("id", "item")],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        return str(made["TableDescription"]["LatestStreamArn"])

    def _queue(self) -> str:
        return str(self.client("sqs").create_queue(QueueName=self.name)["QueueUrl"])

    def _function(self, name: str, told: dict[str, str]) -> str:
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as packed:
            packed.write(FUNCTIONS, FUNCTIONS.name)
        made = self.client("lambda").create_function(
            FunctionName=f"{self.name}-{name}",
            Runtime="python3.13",
            Handler=f"{FUNCTIONS.stem}.{name}",
            Role=self._role(name),
            Code={"ZipFile": code.getvalue()},
            Timeout=30,
            MemorySize=512,
            Environment={"Variables": told},
        )
        return str(made["FunctionArn"])

    def _role(self, function: str) -> str:
        iam, name = self.client("iam"), f"{self.name}-{function}"
        trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
        may = {"Effect": "Allow", "Action": ["dynamodb:*", "sqs:*", "logs:*"], "Resource": "*"}
        made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=_policy(trust))
        iam.put_role_policy(RoleName=name, PolicyName="calls", PolicyDocument=_policy(may))
        return str(made["Role"]["Arn"])

    def _api(self, function: str) -> str:
        gateway = self.client("apigatewayv2")
        api = gateway.create_api(Name=self.name, ProtocolType="HTTP")["ApiId"]
        integration = gateway.create_integration(
            ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=function, PayloadFormatVersion="2.0"
        )["IntegrationId"]
        gateway.create_route(ApiId=api, RouteKey="POST /jobs", Target=f"integrations/{integration}")
        gateway.create_stage(ApiId=api, StageName="$default", AutoDeploy=True)
        self.client("lambda").add_permission(
            FunctionName=function,
            StatementId="api",
            Action="lambda:InvokeFunction",
            Principal="apigateway.amazonaws.com",
        )
        return f"{self.live.stack.aws_endpoint_url}/_aws/execute-api/{api}/$default/jobs"


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def main() -> None:
    with live_stack() as live, live.functions.caps(NEVER_FULL), live.client(TENANT) as client:
        arms = {"coatcheck": platform(client)} | {calls: Chain(live, calls).arm() for calls in ("calls", "bare")}
        measured = measure(arms)
    record("chain", measured)
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
