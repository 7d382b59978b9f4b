"""Many seeds: what each came to, what all of them covered, and whether that was enough."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from statistics import median

from tests.simulation.chaos import Fault
from tests.simulation.laws import Breach, breaches
from tests.simulation.laws.life import MOVES
from tests.simulation.seed import Run, job_rows, play, prepared
from tests.simulation.stage import playing, set_up
from tests.simulation.story import story

LONGEST_STORY = 80


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a seed came to."""

    seed: int
    steps: int
    jobs: int
    tenants: int
    kinds: int
    faults: Counter[Fault]
    moves: Counter[tuple[str, str]]
    breaches: tuple[Breach, ...]
    story: tuple[str, ...]
    """Of the first breach's job."""


@dataclass(kw_only=True)
class Report:
    outcomes: list[Outcome] = field(default_factory=list)
    faults: Counter[Fault] = field(default_factory=Counter)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.faults.update(outcome.faults)
        self.moves.update(outcome.moves)

    @property
    def broken(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.breaches]

    def shortfalls(self) -> list[str]:
        """What the seeds did not cover, or were too small for."""
        found = [f"no job moved from {before} to {after}" for before, after in sorted(MOVES - set(self.moves))]
        found += [f"no fault: {fault}" for fault in Fault if not self.faults[fault]]
        for name, least in (("jobs", 20), ("tenants", 3), ("kinds", 2)):
            small = [each.seed for each in self.outcomes if getattr(each, name) < least]
            if small:
                found.append(f"fewer than {least} {name} in the seeds {small[:10]}")
        if median(each.steps for each in self.outcomes) < 400:
            found.append("fewer than 400 steps in the median seed")
        if median(sum(each.faults.values()) for each in self.outcomes) < 3:
            found.append("fewer than 3 faults in the median seed")
        return found

    def lines(self) -> Iterable[str]:
        outcomes = self.outcomes
        yield (
            f"{len(outcomes)} seeds, {sum(each.jobs for each in outcomes)} jobs, "
            f"{sum(each.steps for each in outcomes)} steps (median {median(each.steps for each in outcomes):.0f}), "
            f"{sum(self.faults.values())} faults (median {median(sum(e.faults.values()) for e in outcomes):.0f})"
        )
        yield ""
        for (before, after), times in sorted(self.moves.items()):
            yield f"  {before + ' → ' + after:28} {times:8}"
        yield ""
        for fault in Fault:
            yield f"  {fault:34} {self.faults[fault]:8}"
        yield ""
        for outcome in self.broken:
            yield from described(outcome)
        for shortfall in self.shortfalls():
            yield f"NOT COVERED: {shortfall}"


def described(outcome: Outcome) -> Iterable[str]:
    for breach in outcome.breaches:
        yield f"SEED {outcome.seed} BREAKS “{breach.law}”: {breach.about} {breach.text}"
    if outcome.breaches:
        about = outcome.breaches[0].about
        yield f"    make simulate SEED={outcome.seed}{f' JOB={about}' if about else ''} tells all of it:"
    if (before := len(outcome.story) - LONGEST_STORY) > 0:
        yield f"    … {before} lines before"
    yield from (f"    {line}" for line in outcome.story[-LONGEST_STORY:])


def outcome_of(run: Run) -> Outcome:
    """Judge a run that is over."""
    world = run.world
    found = tuple(breaches(run))
    rows = job_rows(world)
    moves = Counter(
        (str(change.old["state"]), str(change.new["state"]))
        for change in world.changes
        if change.old is not None and change.old["state"] != change.new["state"]
    )
    return Outcome(
        seed=run.seed,
        steps=run.steps,
        jobs=len(rows),
        tenants=len({row["tenant"] for row in rows}),
        kinds=len({row["kind"] for row in rows}),
        faults=world.chaos.struck,
        moves=moves,
        breaches=found,
        story=tuple(story(run, found[0].about)) if found else (),
    )


def digest(run: Run) -> str:
    """Equal for runs that were the same in every write and answer."""
    record = [(change.at, change.key.id, sorted(change.new.items())) for change in run.world.changes]
    answers = [(answer.at, answer.request, answer.status) for answer in run.world.answers]
    return sha256(repr((record, answers)).encode()).hexdigest()


def played(seeds: Iterable[int], each: Callable[[Outcome], None] = lambda _: None) -> Report:
    """Run seeds, one after the other."""
    report = Report()
    with set_up(), seldom_collecting() as collect:
        for seed in seeds:
            run = prepared(seed)
            play(run)
            outcome = outcome_of(run)
            report.add(outcome)
            with playing(run.world):
                run.world.scheduler.close()
            each(outcome)
            collect()
    return report


@contextmanager
def seldom_collecting() -> Iterator[Callable[[], None]]:
    """A world is full of cycles, and looking for garbage in it is dear: look when it is over, every 20 worlds."""
    numbers = count(1)

    def collect() -> None:
        if next(numbers) % 20 == 0:
            gc.collect()

    gc.disable()
    try:
        yield collect
    finally:
        gc.enable()
