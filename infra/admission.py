"""What the functions are told of admission: the limits of every tenant, and what the lanes can do."""

from coatcheck.admission import AdmissionTerms
from coatcheck.load import COUNT_EVERY
from infra.config import Config


def admission_terms(config: Config) -> AdmissionTerms:
    """The supervisor counts when it comes round, and takes some time for its walk and for the count."""
    next_count = max(config.timings.supervise_every, COUNT_EVERY) + COUNT_EVERY
    return AdmissionTerms(
        requests_per_second=config.admission.requests_per_second,
        burst=config.admission.burst,
        open_jobs=config.admission.open_jobs,
        caps=config.caps,
        lines=config.lane_lines,
        line_seconds=config.lane_line_minutes * 60,
        job_seconds=config.load.mean_duration_seconds,
        count_seconds=round(next_count.total_seconds()),
    )
