"""Query parameters and headers of the API, for the OpenAPI document."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A query parameter or a header of a request. `schema` is of one value, also where it may be `repeated`."""

    name: str
    place: str
    description: str
    schema: tuple[tuple[str, object], ...] = (("type", "string"),)
    repeated: bool = False
    example: object = None


IDEMPOTENCY_KEY = Parameter(
    name="Idempotency-Key",
    place="header",
    description="Makes repetitions of the request one job, for 7 days.",
    schema=(("type", "string"), ("pattern", r"^[\x21-\x7e]{1,255}$")),
    example="gst-48811-2026-10",
)
REDIRECT = Parameter(
    name="redirect",
    place="query",
    description="`false`: answer 200 with the document, also when there is a result.",
    example="false",
)
IF_NONE_MATCH = Parameter(
    name="If-None-Match",
    place="header",
    description="The ETag of a document that is known already.",
    example='"00000000000000000000000000000000"',
)
ACTING_FOR = Parameter(
    name="Coatcheck-Tenant",
    place="header",
    description="The tenant that a credential with the scope `act_as` acts for.",
    schema=(("type", "string"), ("pattern", r"^[a-z0-9][a-z0-9-]{0,63}$")),
)
