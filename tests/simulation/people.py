"""Clients, operators and the clock: what they ask for, how they repeat themselves, and what they are told."""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from coatcheck.tick import Tick
from tests.simulation.chaos import Fault
from tests.simulation.record import Answer
from tests.simulation.scheduler import Machine
from tests.simulation.world import World

PATIENCE = 30_000
MOST_REPEATS = 12


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A job that a client wants, and what else it will do about it. Times are milliseconds."""

    at: int
    tenant: str
    body: dict[str, Any]
    key: str | None
    polls: tuple[int, ...] = ()
    cancel_after: int | None = None
    again_after: int | None = None
    retries: int = 0


@dataclass(kw_only=True)
class People:
    world: World
    ticks: list[Tick] = field(default_factory=list)
    """Of schedules, each once for each time it fires."""

    busy: int = 0
    machine: Machine = field(default_factory=lambda: Machine("people"))

    def comes(self, errand: Errand) -> None:
        self._begins(errand.at, lambda: self._client(errand))

    def holds(self, at: int, span: int, what: dict[str, Any]) -> None:
        """An operator pauses something, and resumes it later."""

        def hold() -> None:
            self._operate({"act": "pause", **what})
            self._sleep(span)
            self._operate({"act": "resume", **what})

        self._begins(at, hold)

    def fires(self, at: int, tick: Tick) -> None:
        """EventBridge Scheduler fires a tick, and Lambda invokes the ticker until it has taken it."""

        def fire() -> None:
            while self._invoke("ticker", event) is None:
                self._sleep(60_000)

        event = msgspec.to_builtins(tick)
        self.ticks.append(tick)
        self._begins(at, fire)

    def _begins(self, at: int, run: Any) -> None:
        self.busy += 1

        def whole() -> None:
            run()
            self.busy -= 1

        self.world.scheduler.spawn(self.machine, "client", whole, at - self.world.now)

    def _client(self, errand: Errand) -> None:
        ticket = self._insist(errand, "submit", "POST /v1/jobs", body=errand.body, repeats=errand.key is not None)
        if ticket is None or ticket.status != 202:
            return
        job_id = str(ticket.body["id"])
        if errand.cancel_after is not None:
            self._sleep(errand.cancel_after)
            self._insist(errand, "cancel", "DELETE /v1/jobs/{id}", job_id)
        if errand.again_after is not None:
            self._sleep(errand.again_after)
            self._insist(errand, "submit", "POST /v1/jobs", body=errand.body)
        state = ""
        for pause in errand.polls:
            self._sleep(pause)
            seen = self._insist(errand, "status", "GET /v1/jobs/{id}", job_id)
            state = str(seen.body.get("state")) if seen is not None else ""
            if state in ("succeeded", "failed", "cancelled"):
                break
        for _ in range(errand.retries if state in ("failed", "cancelled") else 0):
            self._insist(errand, "submit", "POST /v1/jobs/{id}/retry", job_id)

    def _operate(self, act: dict[str, Any]) -> None:
        while self._invoke("operator", act) is None:
            self._sleep(5_000)

    def _insist(
        self,
        errand: Errand,
        function: str,
        route: str,
        job_id: str = "",
        *,
        body: dict[str, Any] | None = None,
        repeats: bool = True,
    ) -> Answer | None:
        """Ask again until there is an answer: a request that may be repeated is."""
        event = http_event(route, errand.tenant, job_id, body, errand.key if body is not None else None)
        for tries in range(MOST_REPEATS if repeats else 1):
            made = self._invoke(function, event, job_id)
            if made is not None:
                text = made["body"]
                answer = Answer(
                    at=self.world.now,
                    request=f"{route.replace('{id}', job_id)}",
                    tenant=errand.tenant,
                    key=errand.key if body is not None else None,
                    status=int(made["statusCode"]),
                    body=json.loads(text) if text else {},
                )
                self.world.answers.append(answer)
                self.world.trace(f"{answer.request} -> {answer.status}", str(answer.body.get("id", job_id)))
                if answer.status not in (429, 500, 503):
                    return answer
            self._sleep(1_000 * 2 ** min(tries, 6))
        return None

    def _invoke(self, function: str, event: Any, about: str = "") -> Any:
        """An answer, or None if the function failed, or did not answer in time, or nobody heard it."""
        world = self.world
        answers: list[Any] = []
        me = world.scheduler.me
        listening = True

        def done(answer: Any) -> None:
            if listening:
                answers.append(answer)
                world.scheduler.rouse(me)

        world.lambdas.invoke(function, event, done, about=about)
        world.scheduler.sleep(PATIENCE)
        listening = False
        if not answers or world.strikes(Fault.CLIENT_CUT_OFF, 0.02):
            return None
        return answers[0]

    def _sleep(self, span: int) -> None:
        self.world.scheduler.sleep(span)


def http_event(route: str, tenant: str, job_id: str, body: dict[str, Any] | None, key: str | None) -> dict[str, Any]:
    method, _, address = route.partition(" ")
    headers = {"content-type": "application/json"} | ({} if key is None else {"idempotency-key": key})
    event: dict[str, Any] = {
        "routeKey": route,
        "rawPath": address.replace("{id}", job_id),
        "headers": headers,
        "requestContext": {
            "authorizer": {"lambda": {"tenant": tenant, "name": f"key of {tenant}"}},
            "http": {"method": method},
            "requestId": "request",
        },
    }
    if body is not None:
        event["body"] = json.dumps(body)
    if job_id:
        event["pathParameters"] = {"id": job_id}
    return event
