"""What a tenant may, where that is not what every tenant of the stage may: a paid tier, a noisy neighbour."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from coatcheck.row import Row
from coatcheck.write import Key, Table


@dataclass(frozen=True, kw_only=True)
class TenantLimits:
    """None, or a lane that is not there: what the stage's configuration says."""

    caps: Mapping[str, int] = field(default_factory=dict)
    """Jobs in flight at once, by lane."""


def limits_key(tenant: str) -> Key:
    return Key(table=Table.TENANTS, id=f"limits#{tenant}")


def limits_of(row: Row | None) -> TenantLimits:
    """Attributes that this version does not know are passed over."""
    return TenantLimits() if row is None else msgspec.convert(row, TenantLimits)
