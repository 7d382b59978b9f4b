"""Progress: merged so that it never goes back, and written only when that is worth a write."""

from datetime import timedelta

from coatcheck.job import Progress

PERCENT_STEP = 2
SHORTEST_PERIOD = timedelta(seconds=2)


def merged(known: Progress, new: Progress) -> Progress:
    """What is known after a report. An attempt that starts from a checkpoint repeats some work: `done` stays."""
    return Progress(
        done=max(known.done, new.done),
        total=known.total if new.total is None else new.total,
        stage=known.stage if new.stage is None else new.stage,
    )


def worth_writing(written: Progress, known: Progress, since: timedelta) -> bool:
    """Whether a poller would see a difference: 2 percent or another stage, at most every 2 seconds."""
    if since < SHORTEST_PERIOD or known == written:
        return False
    moved = (known.percent or 0) - (written.percent or 0)
    return known.stage != written.stage or abs(moved) >= PERCENT_STEP
