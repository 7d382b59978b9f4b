"""Job ids: ordered by time, unguessable, and told from everything else."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coatcheck.job_id import RANDOM_BYTES, is_job_id, new_job_id
from tests.coatcheck.rows import NOW

randomness = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)
ages = st.timedeltas(timedelta(0), timedelta(days=365 * 200)).map(lambda age: datetime(1970, 1, 1, tzinfo=UTC) + age)


@given(at=ages, random=randomness)
def test_an_id_has_one_form(at: datetime, random: bytes) -> None:
    job_id = new_job_id(at, random)
    assert is_job_id(job_id)
    assert len(job_id) == 28


@given(at=ages, one=randomness, other=randomness)
def test_ids_are_ordered_by_time_to_the_millisecond(at: datetime, one: bytes, other: bytes) -> None:
    assert new_job_id(at, one) < new_job_id(at + timedelta(milliseconds=1.001), other)


@given(one=randomness, other=randomness)
def test_each_random_bit_counts(one: bytes, other: bytes) -> None:
    assert (new_job_id(NOW, one) == new_job_id(NOW, other)) is (one == other)


@pytest.mark.parametrize("size", [0, RANDOM_BYTES - 1, RANDOM_BYTES + 1])
def test_an_id_takes_all_its_randomness(size: int) -> None:
    with pytest.raises(ValueError, match="10 random bytes"):
        new_job_id(NOW, b"\0" * size)


@pytest.mark.parametrize(
    "text", ["", "j_", "j_" + "0" * 25, "j_" + "0" * 27, "k_" + "0" * 26, "j_" + "O" * 26, "j_" + "l" * 26]
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_job_id(text)
