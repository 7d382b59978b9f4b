"""The results of the benchmarks: one entry each, in a file beside them."""

import json
from pathlib import Path

FILE = Path(__file__).with_name("results.json")


def record(name: str, measured: dict[str, object]) -> None:
    """Write what a benchmark measured, and keep what others wrote."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps({**known, name: measured}, indent=2, sort_keys=True) + "\n")
