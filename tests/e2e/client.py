"""One tenant's view of the live stack, over real HTTP."""

import gzip
import time
from collections.abc import Callable
from typing import Any

from coatcheck_client.api import Answer, Document
from coatcheck_client.client import Coatcheck
from coatcheck_client.job import FINAL

POLL_SECONDS = 0.1


class Client:
    """One tenant's view of the API. Nothing is retried and no redirect is followed unless a method says so."""

    def __init__(self, library: Coatcheck) -> None:
        self.library = library

    def request(self, method: str, path: str, **more: Any) -> Answer:
        """Any request: `json=`, `body=`, `headers=`."""
        return self.library.api.request(method, path, **more)

    def post(self, kind: str, args: Any = None, *, key: str | None = None, **fields: Any) -> Answer:
        """POST /v1/jobs, whatever it answers; `fields` are more of the body, such as `lane`."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.request("POST", "/v1/jobs", json={"kind": kind, "args": args or {}, **fields}, headers=headers)

    def submit(self, kind: str, args: Any = None, *, key: str | None = None, **fields: Any) -> str:
        """Hand in a job that must be accepted; its id."""
        answer = self.post(kind, args, key=key, **fields)
        assert answer.status == 202, f"{answer.status}: {answer.body.decode()}"
        return str(answer.document["id"])

    def status(self, job_id: str) -> Document:
        """The status document of a job that must exist."""
        answer = self.request("GET", f"/v1/jobs/{job_id}?redirect=false")
        assert answer.status == 200, f"{answer.status}: {answer.body.decode()}"
        return answer.document

    def wait_until(
        self, job_id: str, holds: Callable[[Document], bool], *, within: float, poll: float = POLL_SECONDS
    ) -> Document:
        """The first status document for which that holds; fails with the last one after `within` seconds.

        What comes late is looked for less often: each look takes a processor from who is waited for.
        """
        deadline, pause = time.monotonic() + within, poll
        while not holds(document := self.status(job_id)):
            assert time.monotonic() < deadline, f"not within {within} s: {document}"
            time.sleep(pause)
            pause = min(pause * 1.2, 5 * poll)
        return document

    def wait_final(self, job_id: str, *, within: float) -> Document:
        return self.wait_until(job_id, lambda document: document["state"] in FINAL, within=within)

    def wait_state(self, job_id: str, state: str, *, within: float) -> Document:
        """The document in which it is in that state; fails at once if it is final and will never be."""
        document = self.wait_until(job_id, lambda d: d["state"] in {state, *FINAL}, within=within)
        assert document["state"] == state, f"not {state}: {document}"
        return document

    def result_link(self, job_id: str) -> str:
        """The presigned link, found redirect by redirect as a client would."""
        to_result = self.request("GET", f"/v1/jobs/{job_id}")
        assert to_result.status == 303, f"{to_result.status}: {to_result.body.decode()}"
        to_file = self.request("GET", to_result.headers["location"])
        assert to_file.status == 303, f"{to_file.status}: {to_file.body.decode()}"
        return to_file.headers["location"]

    def result(self, job_id: str) -> bytes:
        """The result's bytes as they are stored."""
        answer = self.request("GET", self.result_link(job_id))
        assert answer.status == 200, f"{answer.status}: {answer.body[:500].decode(errors='replace')}"
        return answer.body

    def result_text(self, job_id: str) -> str:
        """The text of a gzip result, all members and checksums read."""
        return gzip.decompress(self.result(job_id)).decode()
