"""The supervisor: walks what is due, every minute; where a minute is too long, its function goes round within it."""

from datetime import timedelta

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from infra.config import Config
from infra.doorbells import Doorbells
from infra.python_function import PythonFunction


class Supervisor(Construct):
    def __init__(self, scope: Construct, id_: str, *, config: Config, code: lambda_.Code, doorbells: Doorbells) -> None:
        super().__init__(scope, id_)
        self.function = PythonFunction(
            self,
            "Supervisor",
            config=config,
            code=code,
            name="supervisor",
            handler="supervisor",
            size=config.supervisor_function,
        )
        self.function.tell_timings(config)
        doorbells.let_ring(self.function)
        doorbells.jobs.grant(self.function, "BatchGetItem")  # whoever holds a slot is looked at together
        self._schedule(self.function.function, every=config.timings.supervise_every)

    def _schedule(self, function: lambda_.Function, *, every: timedelta) -> None:
        """EventBridge Scheduler knows whole minutes only. The next tick makes up for a lost one."""
        minutes = max(1, every // timedelta(minutes=1))
        role = iam.Role(
            self,
            "ScheduleRole",
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com").with_conditions(
                {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
            ),
        )
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function_arn]))
        schedule = scheduler.CfnSchedule(
            self,
            "Ticks",
            schedule_expression=f"rate({minutes} minute{'s' if minutes > 1 else ''})",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function.function_arn,
                role_arn=role.role_arn,
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=60, maximum_retry_attempts=0
                ),
            ),
        )
        schedule.node.add_dependency(role)
