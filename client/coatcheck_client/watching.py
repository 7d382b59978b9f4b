"""Following a job until it ends, at the pace that the API asks for."""

import time
from datetime import UTC, datetime

from coatcheck_client.api import FINAL_STATES, Answer, Api, Document, Refused, wait_seconds
from coatcheck_client.display import Display
from coatcheck_client.trouble import Unreachable

_ASK_AGAIN_SECONDS = 2.0
# A deployment or a restart in the meantime is no reason to let go of the ticket.
_TRIES = 6


def watch(api: Api, job_id: str, display: Display) -> Document:
    """Show the job until it is final; its last status document. Raises Refused, Unreachable."""
    with display:
        while True:
            answer = _status(api, job_id)
            document = answer.document
            display.show(document)
            if document["state"] in FINAL_STATES:
                return document
            time.sleep(wait_seconds(answer, default=_ASK_AGAIN_SECONDS, now=datetime.now(UTC)))


def _status(api: Api, job_id: str) -> Answer:
    """Its status, with patience for what passes: no answer, too many requests, an error of the server."""
    for _ in range(_TRIES - 1):
        try:
            return api.status(job_id)
        except Unreachable:
            time.sleep(_ASK_AGAIN_SECONDS)
        except Refused as refused:
            if refused.answer.status != 429 and refused.answer.status < 500:
                raise
            time.sleep(wait_seconds(refused.answer, default=_ASK_AGAIN_SECONDS, now=datetime.now(UTC)))
    return api.status(job_id)
