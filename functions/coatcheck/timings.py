"""Every duration of the protocol, as one value; the defaults are production's."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Durations that the rules work with. A stage overrides what it must; functions receive them as JSON."""

    lease: timedelta = timedelta(seconds=120)
    beat: timedelta = timedelta(seconds=30)
    beat_retry: timedelta = timedelta(seconds=2)
    """A failed heartbeat tries again after this long, not a whole period later."""

    message_margin: timedelta = timedelta(seconds=5)
    """A message stays hidden this much longer than the lease, so that it finds the lease expired when it returns."""

    stall: timedelta = timedelta(minutes=10)
    """An attempt that neither saves a checkpoint nor reports progress for so long is ended."""

    answer_within: timedelta = timedelta(seconds=30)
    """A handler that was asked to stop has so long to come to a checkpoint; then its process is ended."""

    yield_before: timedelta = timedelta(seconds=60)
    hard_stop_before: timedelta = timedelta(seconds=10)
    retry_delays: tuple[timedelta, ...] = (
        timedelta(seconds=30),
        timedelta(minutes=2),
        timedelta(minutes=8),
        timedelta(minutes=8),
    )
    retry_jitter_percent: int = 20
    due_grace: timedelta = timedelta(seconds=60)
    """Work that is left behind is looked at by the supervisor after this long, unless somebody was faster."""

    lease_grace: timedelta = timedelta(seconds=5)
    """A running job becomes due this long after its lease has ended."""

    ring_again: timedelta = timedelta(minutes=20)
    give_back: timedelta = timedelta(seconds=20)
    give_back_limit: timedelta = timedelta(minutes=10)
    wake_limit: timedelta = timedelta(minutes=15)
    """The longest wait that a delayed message can carry; longer ones are left to the supervisor."""

    supervise_every: timedelta = timedelta(minutes=1)
    source_lag: timedelta = timedelta(seconds=30)
    """How long a row of the source may take from its time to its commit: `as_of` is so much before the claim."""

    clocks_apart: timedelta = timedelta(seconds=2)
    """How far the clocks of two machines may be apart, where one's time is compared with the other's."""

    give_up_after: timedelta = timedelta(days=30)
    keep_row: timedelta = timedelta(days=30)
    keep_result: timedelta = timedelta(days=7)
    keep_key: timedelta = timedelta(days=7)
    keep_schedule: timedelta = timedelta(days=400)
    """How long a schedule's record stays after its last tick: longer than a year is, and than any job lives."""

    result_link: timedelta = timedelta(minutes=5)
    """How long a presigned link lives. It dies with the function's session at the latest, whatever it says."""

    result_link_signed: timedelta = timedelta(hours=24)
    """How long an address of ours leads to a presigned link, for whoever holds it."""

    polls_per_second: int = 1000
