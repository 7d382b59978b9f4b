"""Coatcheck for programs: hand in a job, wait for it, fetch what it left."""

import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import urlencode, urljoin

from coatcheck_client.api import READ_SECONDS, Answer, Api, Unsendable, visible
from coatcheck_client.download import Download, Show, replacing
from coatcheck_client.job import Job, Kind, State, job_of, job_path, jobs_of, kinds_of
from coatcheck_client.patience import WALL_CLOCK, Clock, Patience
from coatcheck_client.refusal import accepted, understood
from coatcheck_client.watching import watched

_MOST_PER_PAGE = 100


def new_key() -> str:
    """An idempotency key that nobody has used."""
    return str(uuid.uuid4())


class Coatcheck:
    """The API with one API key. Threads may share it. All that it raises is a Trouble, but for a file's OSError.

    What passes by itself (no answer, 429, 500, 502, 503, 504) is borne for up to `patience` seconds: the request is
    repeated after growing pauses, never earlier than `Retry-After` asks for. Anything else is Refused at once.
    `tenant`: for whom a key with the scope `act_as` acts.
    """

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        tenant: str | None = None,
        patience: float = 60.0,
        clock: Clock = WALL_CLOCK,
    ) -> None:
        self.api = Api(url, key, tenant=tenant, clock=clock)
        self._patience = patience
        self._clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.api.close()

    def submit(
        self,
        kind: str,
        args: Any = None,
        *,
        key: str | None = None,
        lane: str | None = None,
        run_at: datetime | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Job:
        """Hand in a job; `args` is a mapping, a dataclass or a msgspec Struct. One job, however often it is repeated.

        Without a `key` it makes one for this call. With yours, the same call makes the same job for 7 days, also from
        another process; `replayed` says that it was there before. Raises Refused, Unreachable; Unsendable for a time
        without an offset, a number that JSON does not have, or a key that is no key.
        """
        if run_at is not None and run_at.tzinfo is None:
            raise Unsendable("run_at must say its offset from UTC")
        optional = {"lane": lane, "run_at": run_at, "labels": labels}
        body = {"kind": kind, "args": {} if args is None else args} | {
            name: value for name, value in optional.items() if value is not None
        }
        headers = {"Idempotency-Key": new_key() if key is None else visible("an idempotency key", key)}
        answer = self._answer("POST", "/v1/jobs", json=body, headers=headers)
        replayed = answer.headers.get("idempotent-replayed") == "true"
        return understood(answer, lambda document: job_of(document, replayed=replayed))

    def job(self, job: Job | str) -> Job:
        """The job with that id, or that job, as it is now. Raises Refused (404 if there is none), Unreachable."""
        return understood(self._answer("GET", f"{job_path(job)}?redirect=false"), job_of)

    def wait(self, job: Job | str, *, timeout: float | None = None) -> Job:
        """The job when it has ended, however. Raises StillOpen after `timeout` seconds, Refused, Unreachable."""
        return deque(self._watched(job, timeout, every_change=False), maxlen=1).pop()

    def follow(self, job: Job | str, *, timeout: float | None = None) -> Iterator[Job]:
        """The job as it is now and after each change, the last time when it is final. Raises as `wait` does."""
        return self._watched(job, timeout, every_change=True)

    def _watched(self, job: Job | str, timeout: float | None, *, every_change: bool) -> Iterator[Job]:
        if isinstance(job, Job) and job.final:
            return iter([job])
        return watched(
            self.api,
            job_path(job),
            every_change=every_change,
            timeout=timeout,
            patience=self._patience,
            clock=self._clock,
        )

    def jobs(
        self,
        *,
        states: Iterable[State | str] = (),
        kinds: Iterable[str] = (),
        labels: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> Iterator[Job]:
        """The tenant's jobs, newest first, each page fetched when it is needed; all of them, or `most`.

        Of `states` and `kinds` a job needs one each, of `labels` all. Raises Refused, Unreachable.
        """
        left = most
        filters = [("state", states), ("kind", kinds), ("label", (":".join(each) for each in (labels or {}).items()))]
        query = [(name, value) for name, values in filters for value in values]
        limit = _MOST_PER_PAGE if most is None else min(most, _MOST_PER_PAGE)
        page: str | None = f"/v1/jobs?{urlencode([*query, ('limit', limit)])}"
        while page is not None and left != 0:
            answer = self._answer("GET", page)
            items = understood(answer, jobs_of)[:left]
            yield from items
            left = None if left is None else left - len(items)
            page = None if answer.next is None else urljoin(self.api.address("/"), answer.next)

    def cancel(self, job: Job | str) -> Job:
        """Cancel a job: `cancelled`, or `cancelling` until its worker stops. Raises Refused (409: it has ended)."""
        return understood(self._answer("DELETE", job_path(job)), job_of)

    def retry(self, job: Job | str) -> Job:
        """A new job in place of one that failed or was cancelled, from its checkpoint on: the same one if repeated.

        Raises Refused (409: it is open, or it succeeded), Unreachable.
        """
        return understood(self._answer("POST", f"{job_path(job)}/retry"), job_of)

    def kinds(self) -> list[Kind]:
        """Which kinds there are. Raises Refused, Unreachable."""
        return understood(self._answer("GET", "/v1/kinds"), kinds_of)

    def download(self, source: Job | str, path: str | Path, *, show: Show = lambda _, __: None) -> int:
        """Save a job's result, or what a link leads to, as a file; its size in bytes.

        The bytes are those that are stored. A broken transfer is resumed; the file appears when it is whole.
        Raises Refused (404: no result, 409: not yet, 410: no more), CutShort, OtherSize, NoFile, Unreachable; OSError.
        """
        with replacing(Path(path)) as output:
            return self._download(source, output, show)

    def result(self, source: Job | str) -> bytes:
        """The same in memory, for small ones."""
        output = BytesIO()
        self._download(source, output, lambda _, __: None)
        return output.getvalue()

    def _download(self, source: Job | str, output: BinaryIO, show: Show) -> int:
        is_job = isinstance(source, Job) or source.startswith("j_")
        result = source.result if isinstance(source, Job) else None
        return Download(
            self.api,
            f"{job_path(source)}/result" if is_job else str(source),
            output,
            size=None if result is None else result.bytes,
            patience=Patience(self._clock, self._patience),
            show=show,
        ).run()

    def _answer(self, method: str, link: str, *, json: Any = None, headers: Mapping[str, str] = {}) -> Answer:
        """The answer to a request that may be repeated. Raises Refused, Unreachable."""
        patience = Patience(self._clock, self._patience)

        def once() -> Answer:
            timeout = min(READ_SECONDS, max(patience.left, 1.0))
            return accepted(self.api.request(method, link, json=json, headers=headers, timeout=timeout))

        return patience.over(once)
