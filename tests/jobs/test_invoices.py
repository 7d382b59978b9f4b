from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import _invoices
from jobs._invoices import AMOUNTS, MalformedRows

amounts = st.integers(-(10**14) + 1, 10**14 - 1).map(lambda paise: Decimal(paise).scaleb(-2)) | st.sampled_from(
    [Decimal(text) for text in ("0.00", "0.05", "0.50", "-0.05", "-0.50", "10.05", "100.00")]
)


@given(st.lists(st.tuples(*[amounts] * len(AMOUNTS)), min_size=1, max_size=20))
def test_rows_add_up_exactly(rows: list[tuple[Decimal, ...]]) -> None:
    written = [f'7,"a,INR,1.00",INR,{",".join(map(str, row))}'.encode() for row in rows]
    batch = _invoices._batch(written)
    assert batch.totals.amounts == tuple(map(sum, zip(*rows, strict=True)))
    assert batch.totals.rows == len(rows)
    assert batch.lines == b"".join(record + b"\r\n" for record in written)
    assert batch.last_id == 7


@pytest.mark.parametrize("row", [b"7,INR,1.00,2.00", b"7,INR,1.00,2.00,3.00,4.00,5.00,6.00"])
def test_rows_that_do_not_end_in_their_amounts_are_refused(row: bytes) -> None:
    with pytest.raises(MalformedRows):
        _invoices._batch([row])


@pytest.mark.parametrize("row", [b"7,1.00,2.00,3.00,4.00,5.00", b"7,INR,1.00,,3.00,4.00,5.00"])
def test_cells_that_are_no_amounts_are_refused(row: bytes) -> None:
    with pytest.raises(MalformedRows):
        _invoices._batch([row])
