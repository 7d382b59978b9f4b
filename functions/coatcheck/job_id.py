"""Job ids: `j_` and 26 characters, ordered by time, unguessable."""

import re
from datetime import datetime

from coatcheck.row import milliseconds

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
RANDOM_BYTES = 10
FORM = re.compile(r"j_[0-9a-hjkmnp-tv-z]{26}")


def new_job_id(now: datetime, randomness: bytes) -> str:
    """48 bits of milliseconds and 80 random bits, in Crockford's base 32 (https://www.crockford.com/base32.html)."""
    if len(randomness) != RANDOM_BYTES:
        raise ValueError(f"a job id takes {RANDOM_BYTES} random bytes, not {len(randomness)}")
    number = milliseconds(now) << 80 | int.from_bytes(randomness, "big")
    return "j_" + "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def is_job_id(text: str) -> bool:
    return FORM.fullmatch(text) is not None
