"""Schedules: EventBridge Scheduler invokes the ticker, which submits a job once for each tick."""

import json
from datetime import UTC, datetime

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from coatcheck.args import InvalidArgs, checked_args
from coatcheck.registry import UnknownKind, find
from coatcheck.run import settings
from coatcheck.schedule import InvalidSchedule, Origin, Schedule, check, filled
from infra.config import Config
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.tables import IdempotencyTable, JobsTable


class Schedules(Construct):
    """The group in which all schedules are, those of the config and those that the command makes, and their target.

    The service hands a tick to Lambda's own queue, for a day if it must; from there on Lambda tries again. Wherever
    a tick is given up, it ends in the queue of lost ticks.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        idempotency: IdempotencyTable,
    ) -> None:
        super().__init__(scope, id_)
        self.lost = Queue(
            self,
            "LostTicks",
            config=config,
            name="lost-ticks",
            keep=cdk.Duration.days(config.ticks.keep_lost_days),
        )
        self.ticker = PythonFunction(
            self, "Ticker", config=config, code=code, name="ticker", handler="ticker", size=config.api_function
        )
        self.ticker.tell_timings(config)
        self.ticker.tell(**{settings.LANES: json.dumps([lane.name for lane in config.lanes])})
        for table in (jobs, idempotency):
            table.grant(self.ticker, "GetItem", "PutItem")
        self.lost.allow_send(self.ticker)
        retries = lambda_.CfnEventInvokeConfig(
            self,
            "Retries",
            function_name=self.ticker.function.function_name,
            qualifier="$LATEST",
            maximum_retry_attempts=config.ticks.retry_attempts,
            maximum_event_age_in_seconds=config.ticks.try_for_seconds,
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=self.lost.queue.queue_arn)
            ),
        )
        retries.node.add_dependency(self.ticker)  # Lambda looks whether the function may send there
        self.role = self._role()
        self.group = scheduler.CfnScheduleGroup(self, "Group", name=cdk.Stack.of(self).stack_name)
        for schedule in config.schedules:
            check_here(schedule, config)
            self._add(schedule)

    def _role(self) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com").with_conditions(
                {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
            ),
        )
        for action, resource in (
            ("lambda:InvokeFunction", self.ticker.function.function_arn),
            ("sqs:SendMessage", self.lost.queue.queue_arn),
        ):
            role.add_to_policy(iam.PolicyStatement(actions=[action], resources=[resource]))
        return role

    def _add(self, schedule: Schedule) -> None:
        made = scheduler.CfnSchedule(
            self,
            schedule.name,
            name=schedule.name,
            group_name=self.group.ref,
            description="kept by infra/config.py",
            state="ENABLED" if schedule.enabled else "DISABLED",
            schedule_expression=schedule.expression,
            schedule_expression_timezone=schedule.timezone,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=self.ticker.function.function_arn,
                role_arn=self.role.role_arn,
                input=json.dumps(schedule.event(Origin.CONFIG)),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=self.lost.queue.queue_arn),
            ),
        )
        made.node.add_dependency(self.role)


def check_here(schedule: Schedule, config: Config) -> None:
    """Whether the lanes and kinds of this checkout take a schedule's job. Raises InvalidSchedule, BrokenKind, …"""
    check(schedule)
    lanes = [lane.name for lane in config.lanes]
    if schedule.lane not in (None, *lanes):
        raise InvalidSchedule(schedule.name, f"there is no lane {schedule.lane!r}: there are {', '.join(lanes)}")
    try:
        checked_args(find(schedule.kind).args, filled(schedule.args, datetime.now(UTC)))
    except (InvalidArgs, UnknownKind) as error:
        raise InvalidSchedule(schedule.name, str(error)) from error
