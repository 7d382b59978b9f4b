"""alarms: what is wrong with a deployment, and where the runbook says what to do."""

from collections import Counter
from typing import Annotated

import typer
from rich.console import Console

from coatcheck_client.commands.options import Stage
from coatcheck_client.deployment import LOCAL, find_deployment

_console = Console(highlight=False, markup=False, soft_wrap=True)


def alarms(
    every: Annotated[bool, typer.Option("--all", help="Those that are well, too.")] = False, stage: Stage = LOCAL
) -> None:
    """Show the alarms that are on, since when, and the section of docs/runbook.md that says what to do."""
    deployment = find_deployment(stage)
    prefix = f"{deployment.stack_name}-"
    pages = deployment.cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
    found = [alarm for page in pages for alarm in page["MetricAlarms"]]
    for alarm in sorted(found, key=lambda alarm: (alarm["StateValue"], alarm["AlarmName"])):
        if every or alarm["StateValue"] == "ALARM":
            name, since = alarm["AlarmName"].removeprefix(prefix), alarm["StateUpdatedTimestamp"]
            _console.print(f"{alarm['StateValue']:5}  {name}  since {since:%Y-%m-%d %H:%M:%S} UTC")
            _console.print(f"       {alarm.get('AlarmDescription', '')}")
    states = Counter(alarm["StateValue"] for alarm in found)
    _console.print(f"{len(found)} alarms: " + ", ".join(f"{number} {state}" for state, number in states.most_common()))
