"""The one table of allowed transitions; the diagram in docs/architecture.md is checked against it."""

from coatcheck.job import Job, State
from coatcheck.row import Value
from coatcheck.write import Condition, one_of

TRANSITIONS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.RUNNING, State.CANCELLED, State.FAILED}),
    State.RUNNING: frozenset(
        {State.SUCCEEDED, State.FAILED, State.CANCELLED, State.QUEUED, State.RETRYING, State.CANCELLING}
    ),
    State.RETRYING: frozenset({State.QUEUED, State.CANCELLED}),
    State.CANCELLING: frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset(),
    State.CANCELLED: frozenset(),
}


def from_states(target: State, *among: State) -> Condition:
    """The condition that a write into `target` must carry: the states that may move there (of those in `among`)."""
    sources = [state for state in among or State if target in TRANSITIONS[state]]
    if among and len(sources) != len(among):
        raise ValueError(f"no job moves from {set(among) - set(sources)} to {target}")
    return one_of("state", *sources)


def state_of(row: dict[str, Value]) -> State:
    return State(str(row["state"]))


def open_job(job: Job) -> bool:
    return not job.state.final
