"""A night, event by event: requests come, jobs are let in, sent, started, and end."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from bench.night.arrivals import Request, Who
from bench.night.door import Door, pause
from bench.night.queues import FairQueue, Message, PlainQueue, Queue
from bench.night.slots import Slots
from bench.night.stage import Stage
from coatcheck.limiter import Limiter, limiter_of_tenant


@dataclass(kw_only=True, eq=False, slots=True)
class Job:
    """One request and what became of it; moments are seconds since the night began."""

    request: Request
    left: float
    refusals: int = 0
    accepted_at: float = -1.0
    started_at: float = -1.0
    ended_at: float = -1.0
    running: bool = False

    @property
    def wait(self) -> float:
        """From accepted to started."""
        return self.started_at - self.accepted_at


def play(requests: Iterable[Request], stage: Stage, seed: int) -> list[Job]:
    """Play until nothing is open. The jobs, by the time at which they were wanted."""
    jobs = [Job(request=request, left=request.seconds) for request in requests]
    _Play(stage=stage, chances={who: Random(f"{seed} pauses {who}") for who in Who}).run(jobs)
    return jobs


@dataclass(kw_only=True)
class _Play:
    stage: Stage
    chances: Mapping[Who, Random]
    """One for each class, so that what some do changes nothing for others."""

    now: float = 0.0
    door: Door = field(init=False)
    slots: Slots[Job] = field(default_factory=Slots)
    queues: dict[str, Queue] = field(init=False)
    free: Counter[str] = field(init=False)
    sent: dict[int, Job] = field(default_factory=dict)
    messages: int = 0
    events: list[tuple[float, int, Job]] = field(default_factory=list)
    """A heap, by time and then in the order of their making."""

    made: int = 0

    def __post_init__(self) -> None:
        self.door = Door(stage=self.stage)
        self.queues = {name: FairQueue() if self.stage.on.fair_queue else PlainQueue() for name in self.stage.workers}
        self.free = Counter(self.stage.workers)

    def run(self, jobs: list[Job]) -> None:
        for job in jobs:
            self._later(job.request.at, job)
        while self.events:
            self.now, _, job = heapq.heappop(self.events)
            if job.running:
                self._stop(job)
            else:
                self._submit(job)

    def _later(self, at: float, job: Job) -> None:
        self.made += 1
        heapq.heappush(self.events, (at, self.made, job))

    def _submit(self, job: Job) -> None:
        request = job.request
        asks = self.stage.on.admission and not request.tick
        seconds = self.door.ask(request.lane, request.tenant, self.now) if asks else None
        if seconds is not None:
            self._later(self.now + pause(seconds, job.refusals, self.chances[request.who].random()), job)
            job.refusals += 1
            return
        job.accepted_at = self.now
        self.door.accept(request.lane, request.tenant)
        limiter = self._limiter(job)
        if limiter is None or self.slots.take(limiter, job):
            self._send(job)

    def _send(self, job: Job) -> None:
        self.messages += 1
        self.sent[self.messages] = job
        queue = self.stage.queues[job.request.lane]
        self.queues[queue].send(Message(number=self.messages, tenant=job.request.tenant))
        self._receive(queue)

    def _receive(self, queue: str) -> None:
        while self.free[queue] and (message := self.queues[queue].receive(self.now)):
            self.free[queue] -= 1
            self._start(self.sent.pop(message.number))

    def _start(self, job: Job) -> None:
        if job.started_at < 0:
            job.started_at = self.now
        job.running = True
        self.door.start(job.request.lane, job.request.tenant)
        self._later(self.now + min(job.left, self.stage.attempt_seconds), job)

    def _stop(self, job: Job) -> None:
        request, queue = job.request, self.stage.queues[job.request.lane]
        job.running = False
        job.left -= min(job.left, self.stage.attempt_seconds)
        self.queues[queue].delete(request.tenant, self.now)
        self.free[queue] += 1
        if job.left > 0:
            self.door.wait(request.lane, request.tenant)
            self._send(job)
        else:
            self._end(job)
        self._receive(queue)

    def _end(self, job: Job) -> None:
        job.ended_at = self.now
        self.door.end(job.request.lane, job.request.tenant)
        limiter = self._limiter(job)
        following = None if limiter is None else self.slots.free(limiter)
        if following is not None:
            self._send(following)

    def _limiter(self, job: Job) -> Limiter | None:
        lane, tenant = job.request.lane, job.request.tenant
        cap = self.stage.terms.caps.get(lane)
        return None if cap is None else Limiter(name=limiter_of_tenant(tenant, lane), cap=cap)
