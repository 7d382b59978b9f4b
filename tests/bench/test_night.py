"""The parts of a night: the queue's rules, and those of the product, which are its own."""

from dataclasses import dataclass, field, replace
from random import Random

import pytest

from bench.fairness import with_table
from bench.night.arrivals import Who
from bench.night.door import BEGINS, Door, noted, pause
from bench.night.picture import picture, place
from bench.night.queues import NOISY_IN_FLIGHT, QUIET_AGAIN_SECONDS, FairQueue, Message
from bench.night.slots import Slots
from bench.night.stage import Mechanisms, staged
from bench.night.table import span, table
from bench.night.waits import Wait, percentile
from coatcheck.limiter import Limiter
from coatcheck.load import NotedLoad
from coatcheck.memory import MemoryStore
from coatcheck.slots import free, take
from infra.config import CONFIGS, Stage
from tests.coatcheck.lines import ACME, queued
from tests.coatcheck.rows import NOW, TIMINGS

STAGE = staged(CONFIGS[Stage.PROD], Mechanisms())


@dataclass
class Lane:
    """A fair queue, to which messages are sent in the order of their numbers."""

    queue: FairQueue = field(default_factory=FairQueue)
    sent: int = 0

    def send(self, tenant: str, messages: int = 1) -> None:
        for _ in range(messages):
            self.sent += 1
            self.queue.send(Message(number=self.sent, tenant=tenant))

    def receive(self, messages: int = 1, now: float = 0.0) -> list[str]:
        found = [self.queue.receive(now) for _ in range(messages)]
        return [message.tenant for message in found if message]

    def delete(self, tenant: str, messages: int, now: float) -> None:
        for _ in range(messages):
            self.queue.delete(tenant, now)


def test_as_long_as_nobody_is_noisy_the_oldest_message_goes_first() -> None:
    lane = Lane()
    for tenant in "abcab":
        lane.send(tenant)
    assert lane.receive(6) == list("abcab")


def test_who_has_thirty_in_flight_and_over_a_tenth_is_noisy_and_goes_last() -> None:
    lane = Lane()
    lane.send("noisy", NOISY_IN_FLIGHT + 2)
    lane.send("quiet")
    assert lane.receive(NOISY_IN_FLIGHT - 1) == ["noisy"] * (NOISY_IN_FLIGHT - 1)
    assert lane.receive(4) == ["noisy", "quiet", "noisy", "noisy"]


def test_thirty_of_very_many_are_not_noisy() -> None:
    lane = Lane()
    for number in range(10 * NOISY_IN_FLIGHT):
        lane.send(f"quiet-{number}")
    lane.send("large", NOISY_IN_FLIGHT + 1)
    lane.send("quiet")
    lane.receive(11 * NOISY_IN_FLIGHT)
    assert lane.receive(2) == ["large", "quiet"]


def test_few_in_flight_are_noisy_by_the_time_that_they_take() -> None:
    lane = Lane()
    for number in range(5):
        lane.send(f"quiet-{number}")
    lane.send("slow", 3)
    lane.receive(6)
    lane.send("quiet")
    assert lane.receive(2, now=60.0) == ["quiet", "slow"]


def test_of_several_noisy_tenants_the_one_with_the_fewest_in_flight_goes_first() -> None:
    lane = Lane()
    lane.send("more", 41)
    assert lane.receive(40) == ["more"] * 40
    lane.send("fewer", 40)
    assert lane.receive(30) == ["fewer"] * 30
    assert lane.receive(11) == ["fewer"] * 10 + ["more"]


def test_who_was_noisy_is_quiet_again_when_nothing_of_it_waits() -> None:
    lane = Lane()
    lane.send("noisy", 31)
    lane.receive(30)
    lane.queue.receive(0.0)
    assert lane.queue.noisy == frozenset()


def test_who_was_noisy_is_quiet_again_when_nothing_was_in_flight_for_five_minutes() -> None:
    lane = Lane()
    lane.send("noisy", 40)
    for number in range(9):
        lane.send(f"quiet-{number}", 1)
    assert lane.receive(31).count("noisy") == NOISY_IN_FLIGHT
    lane.queue.receive(0.0)
    assert lane.queue.noisy == {"noisy"}
    lane.delete("noisy", NOISY_IN_FLIGHT, 0.0)
    for now, noisy in ((QUIET_AGAIN_SECONDS - 1, {"noisy"}), (QUIET_AGAIN_SECONDS, set())):
        lane.queue.receive(now)
        assert lane.queue.noisy == noisy


@pytest.mark.parametrize("seed", range(20))
def test_the_models_slots_are_the_products(seed: int) -> None:
    """Whatever is taken and given back, in whichever order."""
    chance, store, slots = Random(seed), MemoryStore(), Slots[int]()
    limiter = Limiter(name=ACME, cap=3)
    held: list[int] = []
    line: list[int] = []
    for number in range(1, 40):
        if held and chance.random() < 0.5:
            ended = held.pop(chance.randrange(len(held)))
            free(store, ACME, replace(queued(ended), attempt=2), NOW)
            following = slots.free(limiter)
            assert following == (line.pop(0) if line else None)
            if following is not None:
                assert take(store, [limiter], queued(following), NOW, TIMINGS, newcomer=False) is None
                held.append(following)
        got = take(store, [limiter], queued(number), NOW, TIMINGS, newcomer=True) is None
        assert slots.take(limiter, number) is got
        (held if got else line).append(number)


def test_the_door_is_the_products_admission() -> None:
    door, terms = Door(stage=STAGE), STAGE.terms
    answers = [door.ask("interactive", "noisy", 0.0) for _ in range(terms.burst + 2)]
    assert answers == [None] * terms.burst + [1, 1]
    assert door.ask("interactive", "quiet", 0.0) is None
    assert door.ask("interactive", "noisy", 1 / terms.requests_per_second) is None


def test_a_wait_weighs_up_to_the_cap_of_its_tenant() -> None:
    waiting = {("interactive", "acme"): 500, ("interactive", "globex"): 2, ("bulk", "acme"): 50}
    load = noted({}, waiting, STAGE, BEGINS)
    caps = STAGE.terms.caps
    assert load.fair_backlog("interactive") == caps["interactive"] + 2
    assert load.fair_backlog("bulk") == caps["bulk"]
    assert noted({}, {}, STAGE, BEGINS) == NotedLoad(
        counted_at=load.counted_at, lanes=noted({}, {}, STAGE, BEGINS).lanes
    )


def test_above_the_line_those_are_refused_who_have_more_than_their_cap() -> None:
    door = Door(stage=STAGE)
    for number in range(STAGE.terms.lines["interactive"] + 1):
        door.accept("interactive", f"quiet-{number}")
    for _ in range(STAGE.terms.caps["interactive"] + 1):
        door.accept("interactive", "noisy")
    assert door.ask("interactive", "noisy", 0.0) is not None
    assert door.ask("interactive", "quiet", 0.0) is None


def test_a_client_waits_for_as_long_as_it_is_told_and_longer_with_each_refusal() -> None:
    assert 7 < pause(7, 0, 0.0) < pause(7, 0, 1.0) < pause(7, 3, 0.0) <= 7 + 16


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([1, 2, 3, 4], percent) for percent in (0, 50, 51, 100)] == [1, 2, 3, 4]


def test_spans_read_as_people_say_them() -> None:
    assert [span(each) for each in (0, 0.4, 14.2, 119, 1800, 9000)] == [
        "0 s",
        "< 1 s",
        "14 s",
        "119 s",
        "30 min",
        "2.5 h",
    ]


def test_tables_and_picture_show_every_scene() -> None:
    wait = Wait(jobs=1, p50=0, p95=10, max=600, refusals=0, hours=1)
    scenes = {"with <all>": {Who.QUIET: wait, Who.ARCHIVE: wait}, "none": {Who.QUIET: wait}}
    assert "| none | 0 s · **10 s** · 10 min |  |  |  |  |  |" in table(scenes)
    assert "with &lt;all&gt;" in picture(scenes)
    assert place(0) < place(1) < place(60) < place(86_400)
    page = with_table("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n", "x", "new\n")
    assert page == with_table(page, "x", "new\n") == "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n"
