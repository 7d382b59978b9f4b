"""The status document: what a client sees of a job."""

from datetime import UTC, datetime

from coatcheck.job import Error, Job, State
from coatcheck.timings import Timings

SHORTEST_POLL_SECONDS = 2


def status_document(job: Job, now: datetime, timings: Timings) -> dict[str, object]:
    """The job as JSON. What is not known or does not apply is left out."""
    ticket = f"/v1/jobs/{job.id}"
    parts: dict[str, object] = {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "reason": _reason(job, now),
        "lane": job.lane,
        "attempt": job.attempt,
        "failures": job.failures,
        "max_failures": job.max_failures,
        "progress": _progress(job),
        "created_at": _time(job.created_at),
        "requested_by": job.requested_by,
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "updated_at": _time(job.updated_at),
        "retry_at": _time(job.retry_at),
        "run_at": _time(job.run_at),
        "expires_at": _time(datetime.fromtimestamp(job.ttl, UTC)),
        "error": _error(job.error),
        "result": _result(job, timings),
        "links": _links(job, ticket),
    }
    return {name: value for name, value in parts.items() if value is not None}


def retry_after(job: Job) -> int | None:
    """Seconds until a client should ask again; None when there is nothing more to come."""
    return None if job.state.final else SHORTEST_POLL_SECONDS


def has_result(job: Job) -> bool:
    return job.state is State.SUCCEEDED and job.result is not None and job.result.key is not None


def result_expires_at(job: Job, timings: Timings) -> datetime:
    """When the result may no longer be had, to the hour and not to the bucket's whole days."""
    return (job.finished_at or job.updated_at) + timings.keep_result


def rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)


def _reason(job: Job, now: datetime) -> str | None:
    match job.state:
        case State.QUEUED if job.run_at is not None and job.run_at > now:
            return "scheduled"
        case State.QUEUED:
            return "waiting_for_worker"
        case State.RETRYING:
            return "backing_off"
    return None


def _progress(job: Job) -> dict[str, object]:
    shown = {
        "done": job.progress.done,
        "total": job.progress.total,
        "percent": job.progress.percent,
        "stage": job.progress.stage,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _error(error: Error | None) -> dict[str, object] | None:
    return None if error is None else {"type": error.type, "message": error.message, "retryable": error.retryable}


def _result(job: Job, timings: Timings) -> dict[str, object] | None:
    """Visible only once the final state is written."""
    if job.state is not State.SUCCEEDED or job.result is None:
        return None
    shown: dict[str, object | None] = {"rows": job.result.rows}
    if has_result(job):
        shown |= {
            "url": f"/v1/jobs/{job.id}/result",
            "bytes": job.result.bytes,
            "content_type": job.result.content_type,
            "expires_at": rfc3339(result_expires_at(job, timings)),
        }
    return {name: value for name, value in shown.items() if value is not None}


def _links(job: Job, ticket: str) -> dict[str, object]:
    links: dict[str, object] = {"self": ticket}
    if has_result(job):
        links["result"] = f"{ticket}/result"
    if not job.state.final:
        links["cancel"] = ticket
    return links
