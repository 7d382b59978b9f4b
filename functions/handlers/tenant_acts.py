"""What operators do about tenants: look at what each may and has, and give one limits of its own."""

from collections.abc import Mapping
from dataclasses import replace

from msgspec import Struct

from coatcheck.admission import standing_key, standing_of
from coatcheck.caller import check_tenant
from coatcheck.limiter import limiter_of_tenant
from coatcheck.load import NotedLoad, noted_load
from coatcheck.problem import NotFound, Problem
from coatcheck.run import settings
from coatcheck.slots import holders, slots_key
from coatcheck.tenant_limits import (
    MOST,
    LimitOutOfRange,
    TenantLimits,
    change_limits,
    limits_key,
    limits_of,
    told_limits,
)
from coatcheck.text import rfc3339
from handlers import ports


class LookAtTenants(Struct, frozen=True, kw_only=True, tag_field="act", tag="look_at_tenants"):
    """Say what these tenants may and have, what every tenant may, and who has the most open jobs."""

    tenants: list[str]
    by: str


class SetLimits(Struct, frozen=True, kw_only=True, tag_field="act", tag="set_limits"):
    """Give a tenant limits of its own: those that are named; the others stay."""

    tenant: str
    requests_per_second: int | None = None
    burst: int | None = None
    open_jobs: int | None = None
    caps: dict[str, int] = {}  # msgspec copies it
    by: str


class ResetLimits(Struct, frozen=True, kw_only=True, tag_field="act", tag="reset_limits"):
    """Let a tenant have the limits that every tenant of the stage has."""

    tenant: str
    by: str


def done(act: LookAtTenants | SetLimits | ResetLimits) -> dict[str, object]:
    """Answers `{"stage", "counted_at"?, "open_jobs": {tenant: number}, "tenants": [{"tenant", "limits", "open_jobs",
    "lanes": {lane: {"cap"?, "open_jobs", "in_flight"?, "waiting"}}}]}`, or `{"refused"}`. Raises Unavailable."""
    try:
        match act:
            case LookAtTenants(tenants=tenants):
                for tenant in tenants:
                    check_tenant(tenant)
                return _looked_at(tenants)
            case SetLimits():
                check_tenant(act.tenant)
                _check_lanes(act.caps)
                change_limits(ports.tenants(), act.tenant, lambda known: _with(known, act))
            case ResetLimits():
                check_tenant(act.tenant)
                change_limits(ports.tenants(), act.tenant, lambda _: TenantLimits())
    except LimitOutOfRange as error:
        return {"refused": str(error)}
    except Problem as problem:
        return {"refused": problem.detail}
    return _looked_at([act.tenant])


def _with(known: TenantLimits, act: SetLimits) -> TenantLimits:
    return replace(
        known,
        **{name: value for name in MOST if (value := getattr(act, name)) is not None},
        caps={**known.caps, **act.caps},
    )


def _check_lanes(caps: Mapping[str, int]) -> None:
    for lane in caps:
        if lane not in settings.lanes():
            raise NotFound(f"there is no lane {lane!r}: there are {', '.join(sorted(settings.lanes()))}")


def _looked_at(tenants: list[str]) -> dict[str, object]:
    load, terms = noted_load(ports.jobs()), settings.admission()
    stage = {name: getattr(terms, name) for name in ("requests_per_second", "burst", "open_jobs", "caps", "lines")}
    counted = {} if load.as_of is None else {"counted_at": rfc3339(load.as_of)}
    return {
        "stage": stage,
        **counted,
        "open_jobs": {tenant: load.open_of(tenant) for tenant in load.tenants},
        "tenants": [_shown(tenant, load) for tenant in tenants],
    }


def _shown(tenant: str, load: NotedLoad) -> dict[str, object]:
    limits = limits_of(ports.tenants().get(limits_key(tenant)))
    standing = standing_of(ports.tenants().get(standing_key(tenant)))
    return {
        "tenant": tenant,
        "limits": told_limits(limits),
        "open_jobs": load.open_of(tenant) + standing.since(load),
        "lanes": {lane: _lane(tenant, lane, limits, load) for lane in settings.lanes()},
    }


def _lane(tenant: str, lane: str, limits: TenantLimits, load: NotedLoad) -> dict[str, object]:
    """Who holds a slot is known where there is a cap."""
    limiter, cap = limiter_of_tenant(tenant, lane), limits.caps.get(lane, settings.admission().caps.get(lane))
    slots = ports.jobs().get(slots_key(limiter))
    held = {} if cap is None else {"cap": cap, "in_flight": 0 if slots is None else len(holders(slots))}
    return {**held, "open_jobs": load.open_of(tenant, lane), "waiting": ports.jobs().count_waiting(limiter)}
