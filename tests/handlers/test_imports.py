"""What a cold function pays for: no handler of the API may load what only jobs need."""

import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = Path(__file__).parents[2] / "functions"
HEAVY = ("psycopg", "isal", "jwt", "cryptography", "aws_xray_sdk", "moto")


def loaded(program: str) -> set[str]:
    """The top-level modules that a program has loaded at its end, in a fresh interpreter."""
    text = f"{program}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        cwd=FUNCTIONS,
        env={"PYTHONPATH": str(FUNCTIONS), "AWS_DEFAULT_REGION": "ap-south-1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


@pytest.mark.parametrize("handler", ["submit", "status", "cancel", "waiter", "authorizer", "dispatcher", "wake"])
def test_a_handler_loads_no_library_of_the_jobs(handler: str) -> None:
    assert loaded(f"import handlers.{handler}").isdisjoint(HEAVY)


def test_submit_knows_every_kinds_args_without_the_libraries_that_their_work_needs() -> None:
    program = "import handlers.submit\nfrom coatcheck.registry import kinds\nassert len(list(kinds())) >= 2"
    modules = loaded(program)
    assert modules.isdisjoint(HEAVY)
    assert "jobs" in modules


def test_a_submit_loads_no_rule_of_what_comes_after_it() -> None:
    later = {f"coatcheck.{name}" for name in ("doorbell", "hold", "listing", "pause", "ring", "settle")}
    loaded(f"import sys, handlers.submit\nassert {later!r}.isdisjoint(sys.modules)")


def test_the_rules_load_neither_boto3_nor_the_edge() -> None:
    names = sorted(
        f"coatcheck.{path.stem}" for path in (FUNCTIONS / "coatcheck").glob("*.py") if path.stem != "__init__"
    )
    assert len(names) > 25
    modules = loaded(f"import {', '.join(names)}")
    assert modules.isdisjoint({"boto3", "botocore", "aws_lambda_powertools", "handlers", *HEAVY})


def test_nothing_reads_its_settings_before_the_first_call() -> None:
    handlers = sorted(path.stem for path in (FUNCTIONS / "handlers").glob("*.py") if path.stem != "__init__")
    assert "handlers" in loaded("\n".join(f"import handlers.{name}" for name in handlers))
