"""Terms of admission as tests begin with them."""

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
