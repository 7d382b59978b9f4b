"""The one zip of all functions: which files it has, how it is built, and the hash that says when it is another."""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_

from infra.config import Stage

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("handlers", "coatcheck", "jobs")
LEFT_OUT_ALWAYS = frozenset(
    f"coatcheck/{module}.py" for module in ("index", "judgement", "limits", "memory", "memory_objects", "testing")
)
LEFT_OUT_IN_PROD = frozenset({"jobs/probe.py"})


@dataclass(frozen=True, kw_only=True)
class Target:
    """The interpreter that wheels are chosen for."""

    python: str = "3.13"
    platform: str = "aarch64-manylinux_2_28"
    """As uv names it: processor and C library. Lambda's Python 3.13 has version 2.34 of it, which runs older ones."""


@dataclass(frozen=True, kw_only=True)
class FunctionCode:
    """What goes into the zip.

    `target` is None where the interpreter that runs the functions has the requirements already, as the emulator has.
    """

    stage: Stage
    root: Path = REPOSITORY / "functions"
    requirements: Path = REPOSITORY / "requirements.txt"
    target: Target | None

    def files(self) -> list[str]:
        """Every file of the functions, by its path within the zip, sorted."""
        left_out = LEFT_OUT_ALWAYS | (LEFT_OUT_IN_PROD if self.stage is Stage.PROD else frozenset())
        found = (
            path.relative_to(self.root).as_posix()
            for package in PACKAGES
            for path in (self.root / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        )
        return sorted(set(found) - left_out)

    def kinds(self) -> frozenset[str]:
        """The names of the kinds whose files are in the zip."""
        jobs = (Path(file) for file in self.files() if file.startswith("jobs/"))
        return frozenset(
            file.stem.replace("_", "-") for file in jobs if file.suffix == ".py" and not file.stem.startswith("_")
        )

    def hash(self) -> str:
        """Changes exactly if something changes that the zip is made of: a file, a pin, the target."""
        digest = hashlib.sha256()
        inputs = [(file, (self.root / file).read_bytes()) for file in self.files()]
        if self.target is not None:
            inputs.append(("requirements", self.requirements.read_bytes()))
            inputs.append(("command", " ".join(self.install_command(Path())).encode()))
        for name, content in inputs:
            # lengths first: no two lists of inputs may look the same to the digest
            digest.update(f"{len(name)} {len(content)} {name} ".encode())
            digest.update(content)
        return digest.hexdigest()

    def install_command(self, directory: Path) -> list[str]:
        """Arguments of uv that unpack the pinned wheels for the target, whatever machine this is."""
        if self.target is None:
            return []
        options = {
            "--target": str(directory),
            "--requirements": self.requirements.name,
            "--python-version": self.target.python,
            "--python-platform": self.target.platform,
            "--only-binary": ":all:",
        }
        return [
            "pip",
            "install",
            *(word for pair in options.items() for word in pair),
            "--require-hashes",
            "--no-deps",
        ]

    def build(self, directory: Path) -> None:
        """Put everything that belongs into the zip below `directory`."""
        if self.target is not None:
            install = [sys.executable, "-m", "uv", *self.install_command(directory), "--quiet", "--no-progress"]
            subprocess.run(install, cwd=self.requirements.parent, check=True)
            shutil.rmtree(directory / "bin", ignore_errors=True)  # scripts that name this machine's interpreter
        for file in self.files():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / file, directory / file)

    def asset(self) -> lambda_.Code:
        """The zip as CDK knows it. Built at synth, without Docker, unless the context skips bundling."""
        return lambda_.Code.from_asset(
            str(self.root),
            asset_hash=self.hash(),
            asset_hash_type=cdk.AssetHashType.CUSTOM,
            bundling=cdk.BundlingOptions(image=lambda_.Runtime.PYTHON_3_13.bundling_image, local=_LocalBundling(self)),
        )


@jsii.implements(cdk.ILocalBundling)
class _LocalBundling:
    def __init__(self, code: FunctionCode) -> None:
        self._code = code

    # CDK's interface: it passes all of its bundling options, of which none is needed
    def try_bundle(self, output_dir: str, *, image: cdk.DockerImage, **_options: Any) -> bool:  # noqa: ARG002
        self._code.build(Path(output_dir))
        return True


def function_code(stage: Stage) -> FunctionCode:
    return FunctionCode(stage=stage, target=None if stage is Stage.LOCAL else Target())
