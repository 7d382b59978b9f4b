"""The settings of a function: the names of its environment variables, and what is read from them."""

import os
from dataclasses import dataclass
from functools import cache

import msgspec

from coatcheck.admission import AdmissionTerms
from coatcheck.limiter import Caps
from coatcheck.timings import Timings

TIMINGS = "COATCHECK_TIMINGS"
JOBS_TABLE = "JOBS_TABLE"
IDEMPOTENCY_TABLE = "IDEMPOTENCY_TABLE"
TENANTS_TABLE = "TENANTS_TABLE"
RESULTS_BUCKET = "RESULTS_BUCKET"
LINK_SECRET_ARN = "LINK_SECRET_ARN"  # noqa: S105  # the name of a variable that holds an ARN
OIDC = "OIDC"
CAPS = "CAPS"
ADMISSION = "ADMISSION"
LANE = "LANE"
LANE_QUEUE = "LANE_QUEUE"
LANE_QUEUES = "LANE_QUEUES"
LANES = "LANES"
WAKE_QUEUE = "WAKE_QUEUE"
DEAD_LETTER_QUEUE = "DEAD_LETTER_QUEUE"
ROUTES = "ROUTES"
SOURCE_URL = "SOURCE_URL"
SOURCE_SECRET_ARN = "SOURCE_SECRET_ARN"  # noqa: S105  # the name of a variable that holds an ARN
SOURCE_ROWS_PER_SECOND = "SOURCE_ROWS_PER_SECOND"


class MissingSetting(Exception):
    """The function was deployed without a setting that it needs."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the environment variable {name} is not set for this function")
        self.name = name


def setting(name: str) -> str:
    """An environment variable. Raises MissingSetting."""
    value = os.environ.get(name)
    if not value:
        raise MissingSetting(name)
    return value


@cache
def timings() -> Timings:
    return msgspec.json.decode(setting(TIMINGS).encode(), type=Timings)


@cache
def lane_queues() -> dict[str, str]:
    """The URL of each lane's queue."""
    return msgspec.json.decode(setting(LANE_QUEUES).encode(), type=dict[str, str])


@cache
def lanes() -> tuple[str, ...]:
    """The lanes that a job may ask for."""
    return msgspec.json.decode(setting(LANES).encode(), type=tuple[str, ...])


@cache
def caps() -> Caps:
    """How many jobs may be in flight at once, where the stage says so."""
    return msgspec.json.decode(setting(CAPS).encode(), type=Caps)


@cache
def admission() -> AdmissionTerms:
    """What may be handed in, where a tenant has no limits of its own."""
    return msgspec.json.decode(setting(ADMISSION).encode(), type=AdmissionTerms)


@cache
def routes() -> dict[str, str]:
    """The kind of each named route, such as `POST /v1/reports/gst-export`."""
    return msgspec.json.decode(setting(ROUTES).encode(), type=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """An OpenID Connect issuer whose tokens are taken, if they are for `audience`, and their claim with the tenant.

    `url` is what its tokens say of it, to the letter. Its keys are where its description says, or at `keys_url`.
    """

    url: str
    audience: str
    tenant_claim: str
    keys_url: str | None = None


@cache
def issuer() -> Issuer | None:
    """Whose tokens are taken, beside API keys; nobody's by default."""
    text = os.environ.get(OIDC)
    return None if not text else msgspec.json.decode(text.encode(), type=Issuer)


@dataclass(frozen=True, kw_only=True)
class SourceSettings:
    """Where kinds read from: a URL as it is, or the ARN of a secret that holds one."""

    url: str | None
    secret_arn: str | None
    rows_per_second: int | None


def source_settings() -> SourceSettings:
    pace = os.environ.get(SOURCE_ROWS_PER_SECOND)
    return SourceSettings(
        url=os.environ.get(SOURCE_URL) or None,
        secret_arn=os.environ.get(SOURCE_SECRET_ARN) or None,
        rows_per_second=int(pace) if pace else None,
    )
