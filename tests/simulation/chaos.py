"""What goes wrong, and when: every fault is drawn here, counted, and kept until the world is to come to rest."""

from collections import Counter
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    # of a call
    KILLED = "killed at a call"
    PAUSED = "paused beyond a lease"
    REFUSED = "call refused"
    ANSWER_LOST = "answer lost"
    REPEATED = "call repeated by the SDK"
    STRAY = "call given up, effect later"
    SLOW = "call slow"
    # of a time
    OUTAGE = "nothing answers for a while"
    SKEWED = "clocks apart"
    CLOCK_JUMPED = "clock jumped"
    DEPLOYED = "deployed in the middle"
    BROKEN_VERSION = "workers die at their start"
    OLD_VERSION = "kind unknown to a worker"
    # of a worker
    BEATS_SLOW = "heartbeat slow"
    INTERPRETER_HELD = "interpreter's lock held"
    TIMED_OUT = "function timed out"
    # of what is delivered
    DELIVERED_TWICE = "message delivered twice"
    DELIVERED_LATE = "message delivered late"
    OVERTAKEN = "message overtaken"
    DELETE_LOST = "message not deleted"
    RECORDS_REPLAYED = "records replayed"
    RECORDS_SPLIT = "batch of records split"
    RECORDS_LOST = "records lost"
    INDEX_LATE = "index far behind"
    TICK_MISSED = "supervisor not called"
    TICK_DOUBLED = "supervisors at once"
    CLIENT_CUT_OFF = "client without an answer"


AT_READS = (Fault.KILLED, Fault.PAUSED, Fault.REFUSED, Fault.SLOW)
AT_WRITES = (*AT_READS, Fault.ANSWER_LOST, Fault.ANSWER_LOST, Fault.REPEATED, Fault.REPEATED, Fault.STRAY)


class Chaos:
    """A budget of faults that lasts until `calm_at`. The same seed draws the same ones."""

    def __init__(self, random: Random, *, rate: float, budget: int, calm_at: int) -> None:
        self.random = random
        self.rate = rate
        self.budget = budget
        self.calm_at = calm_at
        self.struck: Counter[Fault] = Counter()
        self.outage_until = 0

    def strikes(self, fault: Fault, now: int, chance: float) -> bool:
        """Whether a fault happens here, which has so much chance at this seed's usual rate."""
        if self.budget <= 0 or now >= self.calm_at or self.random.random() >= chance * self.rate * 100:
            return False
        self.note(fault)
        return True

    def note(self, fault: Fault) -> None:
        self.budget -= 1
        self.struck[fault] += 1

    def at_call(self, now: int, *, reads: bool) -> Fault | None:
        """What happens to a call."""
        if now < self.outage_until and self.random.random() < 0.9:
            return Fault.REFUSED if reads or self.random.random() < 0.8 else Fault.ANSWER_LOST
        if self.budget <= 0 or now >= self.calm_at or self.random.random() >= self.rate:
            return None
        fault = self.random.choice(AT_READS if reads else AT_WRITES)
        self.note(fault)
        return fault
