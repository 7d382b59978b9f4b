"""The CDK app: `cdk synth -c stage=local|dev|prod`."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.config import configured
from infra.stack import CoatcheckStack

app = cdk.App()
CoatcheckStack(app, config=configured(app.node.try_get_context))
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
app.synth()
