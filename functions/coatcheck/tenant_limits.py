"""What a tenant may, where that is not what every tenant of the stage may: a paid tier, a noisy neighbour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

import msgspec

from coatcheck.limiter import MOST_SLOTS
from coatcheck.problem import Busy
from coatcheck.row import Row
from coatcheck.store import Refused, Store
from coatcheck.write import Key, Table, absent, as_seen, put, update

MOST_TRIES = 5
MOST_PER_SECOND = 10_000
MOST_BURST = 100_000
MOST_OPEN_JOBS = 1_000_000


class LimitOutOfRange(ValueError):
    def __init__(self, what: str, value: int, most: int) -> None:
        super().__init__(f"{what} must be within 1 and {most:,}, not {value:,}")
        self.what = what
        self.value = value
        self.most = most


@dataclass(frozen=True, kw_only=True)
class TenantLimits:
    """None, or a lane that is not there: what the stage's configuration says."""

    caps: Mapping[str, int] = field(default_factory=dict)
    """Jobs in flight at once, by lane."""

    requests_per_second: int | None = None
    burst: int | None = None
    """Requests at once, after a quiet time."""

    open_jobs: int | None = None


MOST = {"requests_per_second": MOST_PER_SECOND, "burst": MOST_BURST, "open_jobs": MOST_OPEN_JOBS}
"""The largest value of each limit but the caps. The smallest is 1: to shut a tenant out, revoke its keys."""


def limits_key(tenant: str) -> Key:
    return Key(table=Table.TENANTS, id=f"limits#{tenant}")


def limits_of(row: Row | None) -> TenantLimits:
    """Attributes that this version does not know are passed over."""
    return TenantLimits() if row is None else msgspec.convert(row, TenantLimits)


def told_limits(limits: TenantLimits) -> dict[str, object]:
    """As JSON says them: what is as the stage has it is left out."""
    return {name: value for name, value in msgspec.to_builtins(limits).items() if value is not None}


def check_limits(limits: TenantLimits) -> None:
    """Raises LimitOutOfRange."""
    values = [(name, getattr(limits, name), most) for name, most in MOST.items()]
    caps = [(f"the cap of the lane {lane}", cap, MOST_SLOTS) for lane, cap in limits.caps.items()]
    for what, value, most in (*values, *caps):
        if value is not None and not 1 <= value <= most:
            raise LimitOutOfRange(what, value, most)


def change_limits(store: Store, tenant: str, change: Callable[[TenantLimits], TenantLimits]) -> TenantLimits:
    """Give a tenant other limits, as a function of those it has. Two who do so at once both count.

    Returns what it has then. Raises LimitOutOfRange, Busy, Unavailable.
    """
    key = limits_key(tenant)
    for _ in range(MOST_TRIES):
        row = store.get(key)
        limits = change(limits_of(row))
        check_limits(limits)
        values = {each.name: getattr(limits, each.name) for each in fields(TenantLimits)}
        seen = tuple(as_seen(name, (row or {}).get(name)) for name in values)
        try:
            if row is None:
                store.write(put(key, {"tenant": tenant} | values, absent("caps")))
            else:
                store.write(update(key, seen, {"tenant": tenant} | values))
        except Refused:
            continue
        return limits
    raise Busy("others change the limits of this tenant: try again", headers={"Retry-After": "1"})
