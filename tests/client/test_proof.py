"""The demo's proof notices every way in which a file can be wrong."""

import gzip
from decimal import Decimal
from pathlib import Path

import pytest

from coatcheck_client.proof import Damaged, Totals, file_totals

HEADER = "invoice_id,buyer_name,taxable_value,cgst,sgst,igst,total\r\n"
ROWS = ['1,"Synthetic, \r\n""Stores""",100.10,9.01,9.01,0.00,118.12\r\n', "2,x,-50.00,0.00,0.00,-9.00,-59.00\r\n"]


def written(file: Path, *members: str) -> Path:
    file.write_bytes(b"".join(gzip.compress(member.encode()) for member in members))
    return file


def test_all_members_count_and_negative_amounts_too(tmp_path: Path) -> None:
    file = written(tmp_path / "report.csv.gz", HEADER, ROWS[0], ROWS[1])
    amounts = {"taxable_value": "50.10", "cgst": "9.01", "sgst": "9.01", "igst": "-9.00", "total": "59.12"}
    assert file_totals(file) == Totals(rows=2, amounts={name: Decimal(text) for name, text in amounts.items()})


def test_a_file_without_rows_is_whole(tmp_path: Path) -> None:
    assert file_totals(written(tmp_path / "report.csv.gz", HEADER)).rows == 0


@pytest.mark.parametrize("cut", [1, 8, 20])
def test_a_cut_file_is_damaged(tmp_path: Path, cut: int) -> None:
    file = written(tmp_path / "report.csv.gz", HEADER, *ROWS)
    file.write_bytes(file.read_bytes()[:-cut])
    with pytest.raises(Damaged):
        file_totals(file)


def test_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    file = written(tmp_path / "report.csv.gz", HEADER + "".join(ROWS))
    data = bytearray(file.read_bytes())
    data[-6] ^= 1  # within the checksum
    file.write_bytes(data)
    with pytest.raises(Damaged):
        file_totals(file)


@pytest.mark.parametrize("text", ["", "a,b\r\n1,2\r\n", HEADER + "1,x,not a number,0,0,0,0\r\n"])
def test_other_contents_are_damage(tmp_path: Path, text: str) -> None:
    with pytest.raises(Damaged):
        file_totals(written(tmp_path / "report.csv.gz", text))
