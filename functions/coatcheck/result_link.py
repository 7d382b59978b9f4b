"""Signed addresses of results: whoever holds one may fetch that result for a day, without an API key."""

import hmac
import re
from base64 import urlsafe_b64encode
from datetime import UTC, datetime

from coatcheck.problem import Forbidden, Gone

PURPOSE = b"coatcheck result link\n"
FORM = re.compile(r"(?P<signed>(?P<job>j_[0-9a-z]{26})\.(?P<until>[0-9]{1,11}))\.(?P<signature>[A-Za-z0-9_-]{43})")


def signed(job_id: str, until: datetime, key: bytes) -> str:
    """A token that opens the result of a job until then."""
    text = f"{job_id}.{int(until.timestamp())}"
    return f"{text}.{_signature(text, key)}"


def opened(token: str, now: datetime, key: bytes) -> str:
    """The id of the job whose result a token opens. Raises Forbidden, Gone."""
    form = FORM.fullmatch(token)
    # The signature first: nobody learns anything from a token that was not made here.
    if form is None or not hmac.compare_digest(form["signature"], _signature(form["signed"], key)):
        raise Forbidden("this link was not made here, or it was changed: take a new one from the job's status")
    if now >= datetime.fromtimestamp(int(form["until"]), UTC):
        raise Gone("this link has expired: take a new one from the job's status")
    return form["job"]


def _signature(text: str, key: bytes) -> str:
    return urlsafe_b64encode(hmac.digest(key, PURPOSE + text.encode(), "sha256")).rstrip(b"=").decode()
