"""What is imported of the CDK is type-checked: mypy skips the rest of it, and would take its names for anything."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMPORTED = re.compile(r"^(?:from aws_cdk import (aws_\w+)|from aws_cdk\.(aws_\w+) import)", re.MULTILINE)


def test_every_module_of_the_cdk_that_is_imported_is_type_checked() -> None:
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    (checked,) = [set(each["module"]) for each in overrides if each.get("follow_imports") == "normal"]
    files = [ROOT / "app.py", *(ROOT / "infra").rglob("*.py"), *(ROOT / "tests" / "infra").rglob("*.py")]
    found = {f"aws_cdk.{one or other}" for file in files for one, other in IMPORTED.findall(file.read_text())}
    assert {"aws_cdk.aws_lambda", "aws_cdk.aws_apigatewayv2_integrations"} <= found
    assert found | {"aws_cdk"} == checked
