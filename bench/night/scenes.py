"""The scenes of a night: what is on and who comes. Each is played on the same nights; waits are told by class."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from bench.night.arrivals import HOUR, Crowd, Night, Who, requests
from bench.night.play import play
from bench.night.stage import Mechanisms, staged
from bench.night.waits import Ends, Waits, ends, waits
from infra.config import Config

PROCESSES = 2
SPREAD = 1.0
"""The largest of ten thousand jobs takes some twenty times the mean."""

CROWDS = (
    Crowd(who=Who.NOISY, lane="interactive", at=0.5 * HOUR, jobs=2000, one_tenant=True),
    # A program hands them in one after the other, as fast as the rate of a tenant lets it.
    Crowd(who=Who.ARCHIVE, lane="bulk", at=HOUR, jobs=5000, one_tenant=True, every_seconds=0.1),
    Crowd(who=Who.NIGHTLY, lane="bulk", at=2 * HOUR, jobs=300, one_tenant=False, tick=True),
)

WATCHED_FROM = min(crowd.at for crowd in CROWDS)
"""Before, nothing differs."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    name: str
    night: Night
    on: Mechanisms


def night(arrivals_per_second: float, mean_seconds: float, *, crowds: Sequence[Crowd] = CROWDS) -> Night:
    return Night(
        arrivals_per_second=arrivals_per_second,
        mean_seconds=mean_seconds,
        spread=SPREAD,
        seconds=4 * HOUR,
        crowds=tuple(crowds),
    )


def scenes(config: Config) -> list[Scene]:
    """All that is expected of the stage comes to the interactive lane, and the crowds on top."""
    load = config.load
    deadline = night(load.arrivals_per_second, load.mean_duration_seconds)
    alone = night(load.arrivals_per_second, load.mean_duration_seconds, crowds=())
    return [
        Scene(name="quiet tenants alone", night=alone, on=Mechanisms()),
        Scene(name="everything on", night=deadline, on=Mechanisms()),
        Scene(name="no caps", night=deadline, on=Mechanisms(caps=False)),
        Scene(name="no fair queue", night=deadline, on=Mechanisms(fair_queue=False)),
        Scene(name="no lanes", night=deadline, on=Mechanisms(lanes=False)),
        Scene(name="no admission", night=deadline, on=Mechanisms(admission=False)),
        Scene(name="no caps, no fair queue", night=deadline, on=Mechanisms(caps=False, fair_queue=False)),
        Scene(
            name="nothing",
            night=deadline,
            on=Mechanisms(caps=False, fair_queue=False, lanes=False, admission=False),
        ),
    ]


def planned(config: Config) -> list[Scene]:
    """As busy as the interactive lane is meant to be: its part of the load, and only the noisy tenant on top."""
    load = config.load
    arrivals = config.maximum_concurrency["interactive"] * load.target_utilisation / load.mean_duration_seconds
    alone = night(arrivals, load.mean_duration_seconds, crowds=())
    crowded = night(arrivals, load.mean_duration_seconds, crowds=CROWDS[:1])
    return [
        Scene(name="quiet tenants alone", night=alone, on=Mechanisms()),
        Scene(name="everything on", night=crowded, on=Mechanisms()),
        Scene(name="no caps, no fair queue", night=crowded, on=Mechanisms(caps=False, fair_queue=False)),
    ]


def played(config: Config, all_scenes: Sequence[Scene], seeds: Sequence[int]) -> list[Waits]:
    """The waits of each scene, those of all nights together. In two processes."""
    nights = [(config, scene, seed) for scene in all_scenes for seed in seeds]
    found: list[Waits] = []
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        ends = pool.map(one_night, nights)
        for number, scene in enumerate(all_scenes, 1):
            found.append(waits([next(ends) for _ in seeds]))
            print(f"{number} of {len(all_scenes)} scenes: {scene.name}", flush=True)
    return found


def one_night(what: tuple[Config, Scene, int]) -> dict[Who, Ends]:
    config, scene, seed = what
    return ends(play(requests(scene.night, seed), staged(config, scene.on), seed), WATCHED_FROM)
