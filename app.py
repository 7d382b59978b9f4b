"""The CDK app: `cdk synth -c stage=local|dev|prod`."""

import sys

import aws_cdk as cdk

from coatcheck.registry import BrokenKind
from coatcheck.schedule import InvalidSchedule
from infra.acknowledgements import acknowledge, add_checks
from infra.config import configured
from infra.kinds import RouteTaken, UnknownLane
from infra.stack import CoatcheckStack

app = cdk.App()
config = configured(app.node.try_get_context)
try:
    stack = CoatcheckStack(app, config=config)
except (UnknownLane, RouteTaken, BrokenKind, InvalidSchedule) as error:
    sys.exit(f"error: {error}")  # whoever wrote it into a kind or the config needs no traceback
add_checks(app)
acknowledge(stack, stage=config.stage)
app.synth()
