"""The AWS emulator: ministack in a process of its own, with IAM enforced, reachable from this machine alone."""

import os
import sys
from pathlib import Path

import urllib3

from coatcheck_client.local.guard import Guard
from coatcheck_client.local.poll import until
from coatcheck_client.local.port import LOOPBACK, reserved_port
from coatcheck_client.local.process import is_running, listens, start
from coatcheck_client.local.record import Server
from coatcheck_client.project import Project
from coatcheck_client.trouble import Trouble

ACCOUNT = "000000000000"
REGION = "us-east-1"
# The emulator's root user. Only the functions' own roles are bound by IAM policies.
ROOT_ACCESS_KEY_ID = "test"
ROOT_SECRET_ACCESS_KEY = "test"  # noqa: S105 (not a secret: the emulator's documented default)

_STARTS_WITHIN_SECONDS = 60.0
# What functions may see of the developer's environment; they inherit the emulator's.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE")


class EmulatorFailed(Trouble):
    """ministack ended, or did not answer in time."""

    def __init__(self, log: Path) -> None:
        super().__init__("the local AWS (ministack) did not start", hint=f"its log: {log}")


def aws_environment(endpoint_url: str) -> dict[str, str]:
    """Environment variables with which any AWS SDK or command line talks to the emulator as its root user."""
    return {
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": ROOT_ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": ROOT_SECRET_ACCESS_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def aws_url(port: int) -> str:
    """Where the emulator answers for the AWS APIs: by a name without a dot, which is never an API's own domain."""
    return f"http://localhost:{port}"


def api_url(port: int) -> str:
    """Where it answers for our API: the address that `address.publish` registers as the API's custom domain."""
    return f"http://{LOOPBACK}:{port}"


def start_emulator(project: Project, *, port: int | None, guard: Guard) -> Server:
    """Start it on the preferred port, or on another if that is taken. Raises EmulatorFailed."""
    log = project.logs / "ministack.log"
    scratch = project.local / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    with reserved_port(port) as chosen:
        process = start(
            [sys.executable, "-m", "coatcheck_client.local.emulator_process"],
            env={
                **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                **aws_environment(aws_url(chosen)),
                "AUTH": "true",
                "BIND_HOST": LOOPBACK,
                "GATEWAY_PORT": str(chosen),
                "MINISTACK_REGION": REGION,
                "TMPDIR": str(scratch),
                "PYTHONUNBUFFERED": "1",
                # Listeners of services that nobody here uses, one of them on all interfaces.
                "IOT_MTLS_ENABLED": "0",
                "SFTP_ENABLED": "0",
            },
            cwd=project.local,
            log=log,
        )
        guard.watch(process)
        server = Server(process=process, port=chosen)
        decided = until(lambda: is_ready(server) or not is_running(process), _STARTS_WITHIN_SECONDS)
    if not decided or not is_running(process):
        raise EmulatorFailed(log)
    return server


def is_ready(server: Server) -> bool:
    """Whether the process is the recorded one, and answers: another one's may have taken the port first."""
    if not is_running(server.process) or not listens(server.process, server.port):
        return False
    try:
        with urllib3.PoolManager(retries=False, timeout=5.0) as http:
            return http.request("GET", f"{aws_url(server.port)}/_ministack/ready").status == 200
    except urllib3.exceptions.HTTPError:
        return False
