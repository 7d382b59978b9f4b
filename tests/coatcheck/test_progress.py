"""Progress: what is kept of it, and what is worth a write."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job import Progress
from coatcheck.progress import merged, worth_writing

counts = st.integers(0, 10**9)
progresses = st.builds(Progress, done=counts, total=st.none() | counts, stage=st.none() | st.text(max_size=3))
LONG = timedelta(seconds=2)


@given(reports=st.lists(progresses, min_size=1, max_size=6))
def test_what_was_done_never_goes_back_and_what_was_said_is_not_forgotten(reports: list[Progress]) -> None:
    known = Progress()
    for report in reports:
        after = merged(known, report)
        assert after.done >= max(known.done, report.done)
        assert after.total == (known.total if report.total is None else report.total)
        assert after.stage == (known.stage if report.stage is None else report.stage)
        assert merged(after, report) == after
        known = after


@pytest.mark.parametrize(
    ("known", "since", "worth"),
    [
        (Progress(done=2, total=100), LONG, True),
        (Progress(done=2, total=100), LONG - timedelta(milliseconds=1), False),
        (Progress(done=1, total=100), LONG, False),
        (Progress(done=0, total=100), timedelta(hours=1), False),
        (Progress(done=0, total=100, stage="uploading"), LONG, True),
        (Progress(done=50), LONG, False),
    ],
)
def test_a_write_is_worth_what_a_poller_would_see(known: Progress, since: timedelta, worth: object) -> None:
    assert worth_writing(Progress(done=0, total=100), known, since) is worth
