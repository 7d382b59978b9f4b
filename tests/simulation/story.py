"""The story of a job in a run, step by step: what was written, sent, done and told."""

from tests.simulation.record import told
from tests.simulation.seed import Run


def story(run: Run, job_id: str) -> list[str]:
    """Without a trace, what the record has; with one, every call."""
    world = run.world
    if world.tracing:
        return [f"{_at(at)} {line}" for at, line, about in world.lines if not job_id or job_id in about or not about]
    events = [(change.at, told(change)) for change in world.changes if change.key.id == job_id]
    events += [(play.at, f"attempt {play.attempt} {play.did}") for play in world.plays if play.job_id == job_id]
    events += [
        (at, f"{lane} is rung for attempt {bell.attempt}") for at, lane, bell in world.sent if bell.job_id == job_id
    ]
    events += [
        (answer.at, f"{answer.request} -> {answer.status} {answer.body.get('state', '')}")
        for answer in world.answers
        if job_id in (answer.body.get("id"), answer.request.rpartition("/")[2])
    ]
    return [f"{_at(at)} {text}" for at, text in sorted(events, key=lambda event: event[0])]


def _at(milliseconds: int) -> str:
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes:4d}:{rest / 1000:06.3f}"
