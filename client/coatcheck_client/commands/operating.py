"""supervise, logs: a look at the machinery."""

import time
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console

from coatcheck_client import function_logs
from coatcheck_client.commands.options import Stage
from coatcheck_client.deployment import LOCAL, Deployment, find_deployment
from coatcheck_client.function_logs import LogLine
from coatcheck_client.trouble import Trouble

_console = Console(highlight=False, markup=False, soft_wrap=True)


class RoundFailed(Trouble):
    """The supervisor's function ended with an error."""

    def __init__(self, answer: str) -> None:
        super().__init__(f"the supervisor failed: {answer}", hint="see `coatcheck logs supervisor`")


def supervise(
    loop: Annotated[bool, typer.Option("--loop/--once", help="Again and again, or one round.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two rounds of --loop.")] = 2.0,
    stage: Stage = LOCAL,
) -> None:
    """Run the supervisor now: it finds work that was left behind, without waiting for its schedule."""
    deployment = find_deployment(stage)
    _console.print(supervisor_round(deployment))
    while loop:
        time.sleep(every)  # the pace that was asked for, until Ctrl-C
        _console.print(supervisor_round(deployment))


def logs(
    function: Annotated[str | None, typer.Argument(help="A word in the functions' names (default: all).")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    minutes: Annotated[float, typer.Option(min=0, help="How far back to begin.")] = 10,
    stage: Stage = LOCAL,
) -> None:
    """What the functions logged, in order of time."""
    deployment = find_deployment(stage)
    names = function_logs.functions(deployment, function)
    since = datetime.now(UTC) - timedelta(minutes=minutes)
    reader = function_logs.follow if follow else function_logs.read
    for line in reader(deployment, names, since=since):
        _print(deployment, line)


def supervisor_round(deployment: Deployment) -> str:
    """Walk once; the function's answer. Raises RoundFailed."""
    answer = deployment.functions.invoke(
        FunctionName=deployment.output("SupervisorFunction"), Payload=b'{"once": true}'
    )
    text = answer["Payload"].read().decode()
    if answer.get("FunctionError"):
        raise RoundFailed(text)
    return text


def _print(deployment: Deployment, line: LogLine) -> None:
    name = line.function.removeprefix(f"{deployment.stack_name}-")
    at = datetime.fromtimestamp(line.at / 1000, UTC)
    _console.print(f"{at:%H:%M:%S.%f}"[:-3], name, line.text)
