"""The zip of the functions: all of it, none of what does not belong, and a hash that tells versions apart."""

import ast
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.config import Stage
from infra.function_code import LEFT_OUT_ALWAYS, LEFT_OUT_IN_PROD, FunctionCode, Target, function_code

FILES = {
    "handlers/submit.py": "import coatcheck",
    "coatcheck/__init__.py": "",
    "coatcheck/schema.json": "{}",
    "coatcheck/testing.py": "fakes",
    "coatcheck/memory.py": "fakes",
    "coatcheck/memory_objects.py": "fakes",
    "coatcheck/__pycache__/job.cpython-313.pyc": "compiled",
    "jobs/__init__.py": "",
    "jobs/gst_export.py": "kind",
    "jobs/probe.py": "kind",
    "notes.txt": "not in a package",
}


@pytest.fixture
def code(tmp_path: Path) -> FunctionCode:
    root = tmp_path / "functions"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("msgspec==0.23.0")
    return FunctionCode(stage=Stage.DEV, root=root, requirements=requirements, target=Target())


def test_the_zip_has_the_packages_and_nothing_for_tests(code: FunctionCode) -> None:
    assert code.files() == [
        "coatcheck/__init__.py",
        "coatcheck/schema.json",
        "handlers/submit.py",
        "jobs/__init__.py",
        "jobs/gst_export.py",
        "jobs/probe.py",
    ]


def test_production_has_no_probe(code: FunctionCode) -> None:
    prod = replace(code, stage=Stage.PROD)
    assert set(code.files()) - set(prod.files()) == {"jobs/probe.py"}
    assert prod.kinds() == {"gst-export"}
    assert code.kinds() == {"gst-export", "probe"}


def test_the_real_files_that_are_left_out_exist_and_production_has_the_rest() -> None:
    real = function_code(Stage.PROD)
    for name in LEFT_OUT_ALWAYS | LEFT_OUT_IN_PROD:
        assert (real.root / name).is_file()
        assert name not in real.files()
    assert {"handlers/submit.py", "coatcheck/job.py", "jobs/gst_export.py"} <= set(real.files())


def test_nothing_in_the_zip_imports_what_is_left_out() -> None:
    real = function_code(Stage.PROD)
    left_out = {name.removesuffix(".py").replace("/", ".") for name in LEFT_OUT_ALWAYS | LEFT_OUT_IN_PROD}
    for name in real.files():
        if name.endswith(".py"):
            assert not imported((real.root / name).read_text()) & left_out, name


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


def test_the_hash_stays_while_nothing_changes(code: FunctionCode) -> None:
    before = code.hash()
    (code.root / "coatcheck/__pycache__/other.pyc").write_text("compiled again")
    (code.root / "coatcheck/testing.py").write_text("other fakes")
    (code.root / "handlers/submit.py").touch()
    assert code.hash() == before


CHANGES: dict[str, Callable[[FunctionCode], FunctionCode]] = {}


def change(apply: Callable[[FunctionCode], FunctionCode]) -> Callable[[FunctionCode], FunctionCode]:
    CHANGES[apply.__name__] = apply
    return apply


@change
def a_source_file(code: FunctionCode) -> FunctionCode:
    (code.root / "handlers/submit.py").write_text("import coatcheck  # and a remark")
    return code


@change
def a_file_that_is_no_code(code: FunctionCode) -> FunctionCode:
    (code.root / "coatcheck/schema.json").write_text("[]")
    return code


@change
def a_new_empty_file(code: FunctionCode) -> FunctionCode:
    (code.root / "jobs/refund.py").write_text("")
    return code


@change
def a_new_name(code: FunctionCode) -> FunctionCode:
    (code.root / "jobs/gst_export.py").rename(code.root / "jobs/gst_report.py")
    return code


@change
def a_pin(code: FunctionCode) -> FunctionCode:
    code.requirements.write_text("msgspec==0.23.1")
    return code


@change
def the_processor(code: FunctionCode) -> FunctionCode:
    return replace(code, target=Target(platform="x86_64-manylinux_2_28"))


@change
def the_interpreter(code: FunctionCode) -> FunctionCode:
    return replace(code, target=Target(python="3.14"))


@change
def the_stage(code: FunctionCode) -> FunctionCode:
    return replace(code, stage=Stage.PROD)


@change
def no_wheels(code: FunctionCode) -> FunctionCode:
    return replace(code, target=None)


@pytest.mark.parametrize("name", CHANGES)
def test_the_hash_changes_with(code: FunctionCode, name: str) -> None:
    before = code.hash()
    assert CHANGES[name](code).hash() != before


def test_moving_a_byte_from_one_file_to_the_next_changes_the_hash(code: FunctionCode) -> None:
    (code.root / "jobs/a.py").write_text("xy")
    (code.root / "jobs/b.py").write_text("z")
    before = code.hash()
    (code.root / "jobs/a.py").write_text("x")
    (code.root / "jobs/b.py").write_text("yz")
    assert code.hash() != before


def test_wheels_are_chosen_for_lambda_whatever_machine_builds() -> None:
    for stage in (Stage.DEV, Stage.PROD):
        command = function_code(stage).install_command(Path("/build"))
        options = dict(pairwise(command))
        assert options["--python-version"] == "3.13"
        assert options["--python-platform"].startswith("aarch64-")
        assert options["--only-binary"] == ":all:"
        assert "--require-hashes" in command


def test_the_emulator_gets_sources_alone(code: FunctionCode, tmp_path: Path) -> None:
    assert function_code(Stage.LOCAL).target is None
    local = replace(code, stage=Stage.LOCAL, target=None)
    local.build(tmp_path / "zip")
    built = [path.relative_to(tmp_path / "zip").as_posix() for path in (tmp_path / "zip").rglob("*") if path.is_file()]
    assert sorted(built) == local.files()
    assert (tmp_path / "zip/coatcheck/schema.json").read_text() == "{}"


def test_a_synth_names_the_zip_by_what_is_in_it_so_that_an_old_one_is_never_deployed_again(
    code: FunctionCode, tmp_path: Path
) -> None:
    def deployed() -> str:
        stack = cdk.Stack(cdk.App(outdir=str(tmp_path / "cdk.out")))
        location = replace(code, stage=Stage.LOCAL, target=None).asset().bind(stack).s3_location
        assert location is not None
        return location.object_key

    first = deployed()
    assert deployed() == first
    (code.root / "coatcheck/schema.json").write_text("[]")
    assert deployed() != first
