"""The CDK app: `cdk synth -c stage=local|dev|prod`."""

import aws_cdk as cdk

from infra.acknowledgements import acknowledge, add_checks
from infra.config import configured
from infra.stack import CoatcheckStack

app = cdk.App()
config = configured(app.node.try_get_context)
stack = CoatcheckStack(app, config=config)
add_checks(app)
acknowledge(stack, stage=config.stage)
app.synth()
