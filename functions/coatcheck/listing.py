"""Lists of a tenant's jobs: filters, and pages that lose and repeat nothing while jobs are added."""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from coatcheck.args import Fault
from coatcheck.caller import Caller
from coatcheck.document import StatusDocument
from coatcheck.job import Job, State, job_key, job_of
from coatcheck.job_id import is_job_id
from coatcheck.problem import BadRequest
from coatcheck.registry import NAME
from coatcheck.request import LABEL, LABEL_NAME
from coatcheck.row import Row
from coatcheck.store import Store

PARAMETERS = ("state", "kind", "label", "limit", "cursor")
DEFAULT_LIMIT = 20
MOST_LIMIT = 100
MOST_CANDIDATES = 100
"""Of one page of the index; as many as can be read at once."""

MOST_PAGES = 5
"""Of the index, for one request: a rare filter ends the page before the list is searched to its end."""

LIMIT = re.compile(r"[0-9]{1,3}")
# Repeated parameters arrive joined by commas, which a label may contain itself.
NEXT_LABEL = re.compile(rf",(?={LABEL_NAME.pattern}:)")


class JobPage(Struct, frozen=True, kw_only=True):
    """A page of jobs, newest first. It may be short while a next one is named."""

    items: list[StatusDocument]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What a list was asked for. An empty filter lets everything through; of labels, a job needs all."""

    states: frozenset[State] = frozenset()
    kinds: frozenset[str] = frozenset()
    labels: tuple[tuple[str, str], ...] = ()
    limit: int = DEFAULT_LIMIT
    before: str | None = None

    @property
    def filtered(self) -> bool:
        return bool(self.states or self.kinds or self.labels)

    def admits(self, job: Job) -> bool:
        return (
            (not self.states or job.state in self.states)
            and (not self.kinds or job.kind in self.kinds)
            and all(job.labels.get(name) == value for name, value in self.labels)
        )


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Jobs, and the last id that was looked at if there may be more behind it."""

    jobs: tuple[Job, ...]
    last: str | None = None


def listing_of(query: Mapping[str, str]) -> Listing:
    """The list that a query asks for. Raises BadRequest."""
    unknown = [name for name in query if name not in PARAMETERS]
    if unknown:
        raise _invalid(unknown[0], f"unknown; a list takes {', '.join(PARAMETERS)}")
    return Listing(
        states=_states(query.get("state")),
        kinds=_kinds(query.get("kind")),
        labels=_labels(query.get("label")),
        limit=_limit(query.get("limit")),
        before=_before(query.get("cursor")),
    )


def list_jobs(
    store: Store,
    caller: Caller,
    listing: Listing,
    now: datetime,
    broken: Callable[[str, Exception], None] = lambda _, __: None,
) -> Listed:
    """A page of the caller's jobs. Ids are ordered by time: what is added meanwhile is newer than every later page.

    A row that cannot be read is left out; `broken` gets its id and why. Raises Unavailable.
    """
    found: list[Job] = []
    last = listing.before
    for _ in range(MOST_PAGES):
        most = MOST_CANDIDATES if listing.filtered else min(MOST_CANDIDATES, listing.limit - len(found) + 1)
        page = store.listed(caller.tenant, most, last)
        rows = store.get_many([job_key(job_id) for job_id in page.ids]) if page.ids else {}
        for job_id in page.ids:
            if len(found) == listing.limit:
                return Listed(jobs=tuple(found), last=last)
            last = job_id
            job = _owned(job_id, rows.get(job_key(job_id)), caller, now, broken)
            if job is not None and listing.admits(job):
                found.append(job)
        if not page.more:
            return Listed(jobs=tuple(found))
        if len(found) == listing.limit:
            break
    return Listed(jobs=tuple(found), last=last)


def next_link(query: Mapping[str, str], last: str) -> str:
    """The header that names the next page of a list."""
    return f'</v1/jobs?{urlencode({**query, "cursor": cursor(last)})}>; rel="next"'


def cursor(last: str) -> str:
    """A place in the list, in a form that nobody takes for more than that."""
    return base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")


def _owned(
    job_id: str, row: Row | None, caller: Caller, now: datetime, broken: Callable[[str, Exception], None]
) -> Job | None:
    """The index lags: its job may be gone. A row past its time counts as gone, too."""
    if row is None or row.get("tenant") != caller.tenant:
        return None
    try:
        job = job_of(row)
    except msgspec.ValidationError as error:
        broken(job_id, error)
        return None
    return None if job.gone(now) else job


def _states(text: str | None) -> frozenset[State]:
    states = _values(text)
    if any(state not in list(State) for state in states):
        raise _invalid("state", f"must be one of {', '.join(State)}")
    return frozenset(map(State, states))


def _kinds(text: str | None) -> frozenset[str]:
    kinds = _values(text)
    if not all(NAME.fullmatch(kind) for kind in kinds):
        raise _invalid("kind", "must be the name of a kind, such as gst-export")
    return frozenset(kinds)


def _values(text: str | None) -> list[str]:
    """The values of a parameter: the gateway joins repeated ones by commas."""
    return [] if text is None else text.split(",")


def _labels(text: str | None) -> tuple[tuple[str, str], ...]:
    if text is None:
        return ()
    labels = []
    for each in NEXT_LABEL.split(text):
        name, colon, value = each.partition(":")
        if not colon or not LABEL_NAME.fullmatch(name) or not LABEL.fullmatch(value):
            raise _invalid("label", "must be a label's name and value, such as team:tax")
        labels.append((name, value))
    return tuple(labels)


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not LIMIT.fullmatch(text) or not 1 <= int(text) <= MOST_LIMIT:
        raise _invalid("limit", f"must be a whole number from 1 to {MOST_LIMIT}")
    return int(text)


def _before(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        last = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
    except ValueError:
        last = ""
    if not is_job_id(last) or cursor(last) != text:
        raise _invalid("cursor", "is none that a list gave: take it from the Link header of the page before")
    return last


def _invalid(name: str, detail: str) -> BadRequest:
    return BadRequest(f"{name}: {detail}", faults=(Fault(pointer=f"?{name}", detail=detail),))
