"""What comes too late: messages and records of jobs whose rows the table has dropped."""

from coatcheck.doorbell import message_body
from coatcheck.write import Table
from tests.simulation.moves import Move
from tests.simulation.scene import Scene


def test_nothing_of_a_job_comes_back_after_its_row_was_dropped() -> None:
    scene = Scene()
    scene.submits()
    scene.submits(Move.FAIL, Move.SNOOZE, at=1)
    scene.submits(kind="parcel", at=2, cancel_after=3)
    jobs = scene.plays()
    world = scene.world
    end = max(job.ttl for job in jobs)
    expired = [key for key, row in world.table.rows.items() if isinstance(ttl := row.get("ttl"), int) and ttl <= end]
    for key in expired:
        world.table.drop(key)
    for _, lane, doorbell in world.sent:
        world.queues[lane].send(message_body(doorbell), doorbell.job_id)
    for change in list(world.changes):
        for consumer in world.consumers:
            if consumer.takes(change):
                consumer.offer(change)
    scene.goes_on(600)
    assert {job.key for job in jobs} <= set(expired)
    assert [key for key in world.table.rows if key.table is Table.JOBS and key.item == "job"] == []
    assert world.surprises == []
    assert [queue.name for queue in world.queues.values() if queue.messages] == []
