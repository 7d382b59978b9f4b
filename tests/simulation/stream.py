"""The jobs table's stream: each item's changes in their order, handed over in batches that are retried and split."""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zlib import crc32

from coatcheck.aws.attributes import attributes
from tests.simulation.chaos import Fault
from tests.simulation.table import Change

if TYPE_CHECKING:
    from tests.simulation.world import World

LANES = 3
MOST_RETRIES = 5
MOST_RECORDS = 25


@dataclass(kw_only=True)
class Consumer:
    """One event source mapping. What it cannot hand over is kept in `lost`, where an alarm sees it."""

    world: "World"
    function: str
    open_work_only: bool
    """The dispatcher's filter: nothing is owed to what runs. The recorder's: no inserts. Images cost time, and only
    the recorder reads them."""

    deaf: bool = False
    """It hears of nothing."""

    lanes: list[deque[Change]] = field(default_factory=lambda: [deque() for _ in range(LANES)])
    busy: list[bool] = field(default_factory=lambda: [False] * LANES)
    lost: list[Change] = field(default_factory=list)

    def takes(self, change: Change) -> bool:
        if self.deaf or change.key.item != "job" or change.new.get("wrote") != "transition":
            return False
        if self.open_work_only:
            return change.new["state"] not in ("running", "cancelling")
        return change.old is not None

    def offer(self, change: Change) -> None:
        lane = crc32(change.key.id.encode()) % LANES
        self.lanes[lane].append(change)
        self.world.after(self.world.random.randrange(20, 900), lambda: self._feed(lane))

    @property
    def at_rest(self) -> bool:
        return not any(self.busy) and not any(self.lanes)

    def _feed(self, lane: int) -> None:
        waiting = self.lanes[lane]
        if self.busy[lane] or not waiting:
            return
        self.busy[lane] = True
        size = min(len(waiting), self.world.random.randrange(1, MOST_RECORDS))
        batch = [waiting.popleft() for _ in range(size)]
        if self.world.strikes(Fault.RECORDS_LOST, 0.01):
            self._lose(batch)
            self._go_on(lane, [])
        else:
            self._go_on(lane, [(batch, 0)])

    def _go_on(self, lane: int, work: list[tuple[list[Change], int]]) -> None:
        if work:
            self._hand_over(lane, *work[0], work[1:])
        else:
            self.busy[lane] = False
            self._feed(lane)

    def _hand_over(self, lane: int, batch: list[Change], tries: int, rest: list[tuple[list[Change], int]]) -> None:
        def done(answer: Any) -> None:
            left = self._left(batch, answer)
            if not left:
                again = self.world.strikes(Fault.RECORDS_REPLAYED, 0.02)
                self._go_on(lane, [(batch, tries), *rest] if again else rest)
            elif tries >= MOST_RETRIES and len(left) == 1:
                self._lose(left)
                self._go_on(lane, rest)
            elif answer is None and len(left) > 1:
                self.world.chaos.struck[Fault.RECORDS_SPLIT] += 1
                middle = len(left) // 2
                self._go_on(lane, [(left[:middle], tries), (left[middle:], tries), *rest])
            else:
                wait = 200 * 2**tries
                self.world.after(wait, lambda: self._go_on(lane, [(left, min(tries + 1, MOST_RETRIES)), *rest]))

        event = {"Records": [self._record(change, number) for number, change in enumerate(batch)]}
        self.world.lambdas.invoke(self.function, event, done, about=batch[0].key.id)

    def _left(self, batch: list[Change], answer: Any) -> list[Change]:
        """From the first record on that failed, all come again."""
        if answer is None:
            return batch
        failed = [int(each["itemIdentifier"]) for each in answer["batchItemFailures"]]
        return batch[min(failed) :] if failed else []

    def _lose(self, batch: list[Change]) -> None:
        self.world.trace(f"{self.function} loses {len(batch)} records", *{change.key.id for change in batch})
        self.lost.extend(batch)

    def _record(self, change: Change, number: int) -> dict[str, Any]:
        images = {} if self.open_work_only else {"NewImage": attributes(change.new)}
        if change.old is not None and images:
            images["OldImage"] = attributes(change.old)
        return {
            "eventName": "INSERT" if change.old is None else "MODIFY",
            "dynamodb": {
                "Keys": {"id": {"S": change.key.id}, "item": {"S": change.key.item}},
                "SequenceNumber": str(number),
                **images,
            },
        }
