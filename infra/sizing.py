"""Sizing: how many workers a load takes, what waits for how long, and what the services allow. Pure arithmetic."""

from math import ceil, floor, inf, sqrt

LEAST_CONCURRENCY_OF_A_MAPPING = 2
MOST_CONCURRENCY_OF_A_MAPPING = 1000
"""Between these is the `MaximumConcurrency` of an event source mapping of a queue:
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

ACCOUNT_CONCURRENCY = 1000
"""Functions that run at once in one account and region, if it has not asked for more (a new account has less):
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

IN_FLIGHT_OF_A_QUEUE = 120_000
"""Messages of one standard queue that are received and not deleted yet, about. One that polls long, as Lambda does,
gets no error beyond them, but no messages either:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html"""

UNRESERVED_CONCURRENCY = 100
"""So much of the account's concurrency must be left for functions that reserve none:
https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html"""

MOST_CONCURRENCY_OF_A_MAP = 10_000
"""Children of a Distributed Map that run at once:
https://docs.aws.amazon.com/step-functions/latest/dg/state-map-distributed.html"""

SPARE_DEVIATIONS = 4.5
"""How many standard deviations above its mean the number of busy workers may go before a large pool is full.

Jobs that come four at once deviate twice as far, which leaves 2.25: the pool is full for about 1 % of the time."""


def busy_workers(*, arrivals_per_second: float, duration_seconds: float) -> float:
    """How many workers are at work on average. Little's law: what is inside = what comes in x how long it stays."""
    return arrivals_per_second * duration_seconds


def slots_needed(*, busy: float, target_utilisation: float) -> int:
    """How many workers there must be, so that so many busy ones are `target_utilisation` of them."""
    return _whole(busy / target_utilisation)


def large_pool_utilisation(*, busy: float, at_least: float) -> float:
    """The utilisation that a pool may aim at: the larger it is, the smaller the part of it that must be spare.

    Of jobs that come independently, the number of busy workers varies by the square root of its mean, so spare workers
    need to grow with that alone (square-root staffing: Halfin and Whitt, "Heavy-traffic limits for queues with many
    exponential servers", 1981). To two decimals, up to 0.99; small pools keep `at_least`.
    """
    return max(at_least, min(0.99, round(busy / (busy + SPARE_DEVIATIONS * sqrt(busy)), 2)))


def source_slots(*, rows_per_second: int, rows_per_second_per_worker: int) -> int:
    """How many workers at such a pace a source can serve."""
    return rows_per_second // rows_per_second_per_worker


def drain_seconds(*, backlog: int, slots: int, duration_seconds: float, arrivals_per_second: float = 0) -> float:
    """For how long a backlog lasts, while so much goes on to arrive; infinite if it does not shrink.

    Busy workers end `slots / duration` jobs a second, and the backlog shrinks by what that is more than arrivals.
    """
    shrinks_by = slots / duration_seconds - arrivals_per_second
    return backlog / shrinks_by if shrinks_by > 0 else inf


def drain_line(slots: int, mean_duration_seconds: float, minutes: float) -> int:
    """How many jobs so many workers end within such a time; at least one, however long a job takes."""
    return max(1, floor(round(slots * minutes * 60 / mean_duration_seconds, 6)))


def polls_per_second(*, open_jobs: int, poll_seconds: float) -> float:
    """How many polls a second there are, if a client asks for each open job every `poll_seconds`."""
    return open_jobs / poll_seconds


def mappings_needed(workers: int) -> int:
    """How many event source mappings, each with a queue of its own, so many workers take."""
    return _whole(workers / MOST_CONCURRENCY_OF_A_MAPPING)


def queues_needed(workers: int) -> int:
    """How many queues can hold what so many workers have in flight: one message for each, as a batch is one."""
    return _whole(workers / IN_FLIGHT_OF_A_QUEUE)


def fan_out_rounds(*, chunks: int, concurrency: int) -> int:
    """How many chunks one worker does in turn, if all take equally long."""
    return _whole(chunks / concurrency)


def fan_out_seconds(*, chunks: int, chunk_seconds: float, concurrency: int) -> float:
    """How long all chunks of a job take together: whole rounds, since the last one takes as long as any."""
    return fan_out_rounds(chunks=chunks, concurrency=concurrency) * chunk_seconds


def seconds_lost(*, checkpoint_seconds: float) -> float:
    """Work that is done again after a crash, on average: one that may come at any time comes halfway.

    At most it is all that was done since the last checkpoint, `checkpoint_seconds`.
    """
    return checkpoint_seconds / 2


def takeover_seconds(*, lease_seconds: float, beat_seconds: float, margin_seconds: float) -> tuple[float, float]:
    """The shortest and the longest time from a crash to the return of its message.

    The lease runs from the last beat, which was up to one beat ago; the message stays hidden by a margin longer.
    """
    return lease_seconds - beat_seconds + margin_seconds, lease_seconds + margin_seconds


def _whole(number: float) -> int:
    """Rounded up, but not for an error of rounding: 4.2 / 0.7 is six."""
    return ceil(round(number, 6))
