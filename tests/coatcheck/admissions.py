"""Terms of admission as tests begin with them."""

from dataclasses import replace
from random import Random

from coatcheck.admission import AdmissionTerms

GENEROUS = AdmissionTerms(
    requests_per_second=10_000,
    burst=100_000,
    open_jobs=1_000_000,
    caps={"interactive": 3, "bulk": 10},
    lines={"interactive": 1000, "bulk": 1000},
    line_seconds=900,
    job_seconds=2,
    count_seconds=20,
)
"""Nobody is refused who does not ask for it."""


def some_terms(random: Random) -> AdmissionTerms:
    """Generous, or sometimes so that many are refused at first, and come again."""
    if random.random() < 0.7:
        return GENEROUS
    few = random.choice((GENEROUS.open_jobs, 12))
    return replace(GENEROUS, requests_per_second=1, burst=random.randrange(1, 4), open_jobs=few)
