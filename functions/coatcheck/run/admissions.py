"""Admissions, by what a process knows of each tenant: with that, a refusal costs no call and an admission one."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from coatcheck.admission import AdmissionTerms, Asking, Standing, admit, allowance, standing_key, standing_of
from coatcheck.job import Job
from coatcheck.load import COUNT_EVERY
from coatcheck.problem import TooMany
from coatcheck.run.known_limits import MOST_KNOWN, KnownLimits
from coatcheck.run.known_load import KnownLoad
from coatcheck.store import Store, Unavailable

REFUSED_BY = timedelta(seconds=1)
"""Nobody is refused by what is known for longer, so that the wait that is told is true."""


class Admissions:
    """If a tenant's item cannot be read or written its jobs are let in, and `unsure` is told the tenant and why."""

    def __init__(
        self,
        tenants: Store,
        limits: KnownLimits,
        load: KnownLoad,
        terms: AdmissionTerms,
        unsure: Callable[[str, str], None],
    ) -> None:
        self._tenants = tenants
        self._limits = limits
        self._load = load
        self._terms = terms
        self._unsure = unsure
        self._known: dict[str, tuple[datetime, Standing]] = {}

    def submit(self, job: Job, now: datetime) -> None:
        """Raises TooMany."""
        self._admit(job, job.lane, now)

    def retry(self, job: Job, now: datetime) -> None:
        """A job that is tried again was let into its lane before. Raises TooMany."""
        self._admit(job, None, now)

    def _admit(self, job: Job, lane: str | None, now: datetime) -> None:
        """What is known suffices to try, as the write sees what is true. To refuse, it must be new."""
        try:
            try:
                self._try(job, lane, now, timedelta.max)
            except TooMany:
                self._try(job, lane, now, REFUSED_BY)
        except Unavailable as trouble:
            self._unsure(job.tenant, trouble.code)

    def _try(self, job: Job, lane: str | None, now: datetime, believed_for: timedelta) -> None:
        asking = Asking(
            tenant=job.tenant,
            lane=lane,
            allowance=allowance(self._terms, self._limits.of(job.tenant, now), job.lane),
            load=self._load.at(now, min(believed_for, COUNT_EVERY)),
            terms=self._terms,
            now=now,
        )
        as_of, standing = self._known.get(job.tenant, (None, Standing()))
        if as_of is None or now - as_of >= believed_for:
            standing = standing_of(self._tenants.get(standing_key(job.tenant)))
            self._know(job.tenant, now, standing)
        admit(self._tenants, asking, standing, partial(self._know, job.tenant, now))

    def _know(self, tenant: str, now: datetime, standing: Standing) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[tenant] = (now, standing)
