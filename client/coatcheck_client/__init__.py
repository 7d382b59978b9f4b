"""The client of Coatcheck: its HTTP API for programs, the local stack, and the `coatcheck` command."""

from coatcheck_client.api import Api, Unsendable
from coatcheck_client.client import Coatcheck, new_key
from coatcheck_client.download import CutShort, NoFile, OtherSize
from coatcheck_client.job import Job, JobError, Kind, Links, Progress, Result, State
from coatcheck_client.refusal import FieldError, NotUnderstood, Refused
from coatcheck_client.trouble import Trouble, Unreachable
from coatcheck_client.watching import StillOpen

__all__ = [
    "Api",
    "Coatcheck",
    "CutShort",
    "FieldError",
    "Job",
    "JobError",
    "Kind",
    "Links",
    "NoFile",
    "NotUnderstood",
    "OtherSize",
    "Progress",
    "Refused",
    "Result",
    "State",
    "StillOpen",
    "Trouble",
    "Unreachable",
    "Unsendable",
    "new_key",
]
