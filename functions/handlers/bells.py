"""The adapters of the functions that ring and run jobs; the API's functions start faster without them."""

from functools import cache

from coatcheck.aws.clients import BRIEF, dynamodb, sqs
from coatcheck.aws.dynamo_store import DynamoStore
from coatcheck.aws.sqs_queues import SqsQueues, WakeQueue
from coatcheck.ring import Bell
from coatcheck.run import settings
from coatcheck.run.known_limits import KnownLimits
from coatcheck.run.known_pauses import KnownPauses
from coatcheck.run.settings import setting
from coatcheck.write import Table
from handlers import ports


@cache
def jobs_for_beats() -> DynamoStore:
    """The heartbeat's own: its client has short timeouts."""
    return DynamoStore(dynamodb(BRIEF), {Table.JOBS: setting(settings.JOBS_TABLE)})


@cache
def wake_queue() -> WakeQueue:
    return WakeQueue(sqs(), setting(settings.WAKE_QUEUE))


@cache
def known_pauses() -> KnownPauses:
    return KnownPauses(ports.jobs())


@cache
def known_limits() -> KnownLimits:
    return KnownLimits(ports.tenants(), settings.caps())


@cache
def bell() -> Bell:
    queues = SqsQueues(sqs(), settings.lane_queues(), wake_queue(), setting(settings.DEAD_LETTER_QUEUE))
    return Bell(
        store=ports.jobs(),
        queues=queues,
        objects=ports.objects(),
        timings=settings.timings(),
        holding=known_pauses().hold,
        limiting=known_limits().limiters,
    )
