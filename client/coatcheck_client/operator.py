"""The operators' function of a deployment, which does what the command may not do by itself."""

import json
from typing import Any

from coatcheck_client.deployment import Deployment
from coatcheck_client.trouble import Trouble


class OperatorFailed(Trouble):
    def __init__(self, answer: str) -> None:
        super().__init__(f"the operators' function failed: {answer}", hint="see `coatcheck logs operator`")


def operate(deployment: Deployment, act: str, **fields: object) -> dict[str, Any]:
    """Let it do one act in the name of whoever's credentials these are. Raises OperatorFailed."""
    event = {"act": act, "by": deployment.operator, **fields}
    answer = deployment.functions.invoke(
        FunctionName=deployment.output("OperatorFunction"), Payload=json.dumps(event).encode()
    )
    text = answer["Payload"].read().decode()
    if answer.get("FunctionError"):
        raise OperatorFailed(text)
    told: dict[str, Any] = json.loads(text)
    return told
