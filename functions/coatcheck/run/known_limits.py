"""The tenants' own limits as a process knows them: looked up when they are needed, and believed for some seconds."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from coatcheck.job import Job
from coatcheck.limiter import Caps, Limiter, limiters_of
from coatcheck.store import Store, Unavailable
from coatcheck.tenant_limits import TenantLimits, limits_key, limits_of

LOOK_UP_EVERY = timedelta(seconds=10)
MOST_KNOWN = 10_000
"""Tenants; beyond that all are looked up anew."""


class KnownLimits:
    """If they cannot be looked up, the last ones count; if none ever were, the stage's do: work goes on."""

    def __init__(self, tenants: Store, caps: Caps) -> None:
        self._tenants = tenants
        self._caps = caps
        self._known: dict[str, tuple[datetime, TenantLimits]] = {}

    def limiters(self, job: Job, now: datetime) -> tuple[Limiter, ...]:
        return limiters_of(job, self._caps, self.of(job.tenant, now).caps)

    def of(self, tenant: str, now: datetime) -> TenantLimits:
        as_of, limits = self._known.get(tenant, (datetime.min.replace(tzinfo=UTC), TenantLimits()))
        if timedelta(0) <= now - as_of < LOOK_UP_EVERY:
            return limits
        with suppress(Unavailable):  # the next one comes at the next chance
            limits = limits_of(self._tenants.get(limits_key(tenant)))
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[tenant] = (now, limits)
        return limits
