"""The stage on which a night is played: the deployment's own numbers, and which mechanisms are on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from coatcheck.admission import AdmissionTerms
from infra.admission import admission_terms
from infra.config import Config

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Mechanisms:
    """What shares the capacity. Without lanes all workers take from one queue; caps stay as they are."""

    caps: bool = True
    fair_queue: bool = True
    lanes: bool = True
    admission: bool = True


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What the rules of a night are told."""

    on: Mechanisms
    queues: Mapping[str, str]
    """The queue that each lane's jobs are sent to."""

    workers: Mapping[str, int]
    """By queue."""

    attempt_seconds: float
    """How long an attempt lasts at most: then it yields, and its job is sent again, with the slot that it holds."""

    terms: AdmissionTerms
    count_every: float
    """Seconds between two counts of what is open."""


def staged(config: Config, on: Mechanisms) -> Stage:
    queues = {lane.name: lane.name if on.lanes else ALL for lane in config.lanes}
    terms = admission_terms(config)
    lines = _merged(terms.lines, queues)
    timeout = min(lane.size.timeout_seconds for lane in config.lanes)
    return Stage(
        on=on,
        queues=queues,
        workers=_merged(config.maximum_concurrency, queues),
        attempt_seconds=timeout - config.timings.yield_before.total_seconds(),
        terms=replace(
            terms, caps=terms.caps if on.caps else {}, lines={lane: lines[queue] for lane, queue in queues.items()}
        ),
        count_every=config.timings.supervise_every.total_seconds(),
    )


def _merged(numbers: Mapping[str, int], queues: Mapping[str, str]) -> dict[str, int]:
    merged: Counter[str] = Counter()
    for lane, queue in queues.items():
        merged[queue] += numbers[lane]
    return dict(merged)
