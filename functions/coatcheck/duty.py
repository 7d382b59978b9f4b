"""What a final row is owed: the ring frees it, the recorder tells of it. Whoever ends the second duty ends `due`."""

from enum import StrEnum

from coatcheck.job import Job, Wrote, job_of
from coatcheck.store import Refused, Store
from coatcheck.write import Update, is_, update


class Duty(StrEnum):
    """The attribute that says that it is done."""

    FREED = "freed"
    TOLD = "told"


def tell(store: Store, job: Job) -> None:
    """The recorder's work on a final row. Raises Unavailable."""
    discharge(store, job, Duty.TOLD)


def discharge(store: Store, job: Job, duty: Duty) -> None:
    """Mark a duty as done; to do so again changes nothing. Raises Unavailable.

    Refused, the row says why: the other duty was ended meanwhile, so that this one is now the last.
    """
    try:
        store.write(discharge_write(job, duty))
    except Refused as refusal:
        if refusal.old is not None:
            store.write(discharge_write(job_of(refusal.old), duty))


def discharge_write(job: Job, duty: Duty) -> Update:
    other = Duty.TOLD if duty is Duty.FREED else Duty.FREED
    last = _done(job, other)
    return update(
        job.key,
        (is_("state", job.state), is_(other, last)),
        {duty.value: True, "wrote": Wrote.MARK} | ({"due": None} if last else {}),
    )


def _done(job: Job, duty: Duty) -> bool:
    return job.freed if duty is Duty.FREED else job.told
