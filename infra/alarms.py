"""What wakes somebody up. Each alarm is named after its section of docs/runbook.md, which says what to do about it."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from coatcheck.run.load_metrics import LANE, NAMESPACE, SERVICE, Measure
from infra.api import Api
from infra.config import Config
from infra.dispatcher import Dispatcher
from infra.lane import Lane
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.recorder import Recorder

AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
NO_DATA_IS_FINE = cloudwatch.TreatMissingData.NOT_BREACHING
NO_DATA_TELLS_NOTHING = cloudwatch.TreatMissingData.IGNORE
NO_DATA_IS_TROUBLE = cloudwatch.TreatMissingData.BREACHING
MINUTE = cdk.Duration.minutes(1)


class Alarms(Construct):
    """One topic that every alarm publishes to; operators subscribe to it."""

    def __init__(self, scope: Construct, id_: str, *, config: Config) -> None:
        super().__init__(scope, id_)
        self._limits = config.alarms
        self._period = cdk.Duration.seconds(config.alarms.period_seconds)
        self.topic = sns.Topic(self, "Topic", enforce_ssl=True)
        # With a policy of its own the topic no longer has the default one, which lets alarms publish.
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                actions=["sns:Publish"],
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            )
        )
        self._action = actions.SnsAction(self.topic)

    def watch_dead_letters(self, queue: Queue) -> None:
        self._alarm(
            "dead-letters",
            queue.queue.metric_approximate_number_of_messages_visible(period=self._period, statistic="Maximum"),
            threshold=1,
            says="A job has failed for good. The message in the queue says which, and why.",
        )

    def watch_lost_ticks(self, queue: Queue) -> None:
        self._alarm(
            "lost-ticks",
            queue.queue.metric_approximate_number_of_messages_visible(period=self._period, statistic="Maximum"),
            threshold=1,
            says="A tick of a schedule was given up: its job was not made. The message in the queue says which tick.",
        )

    def watch_lane(self, lane: Lane) -> None:
        """The message of a job that runs is still in its queue: it may be as old as both take together."""
        limit = lane.config.oldest_wait_alarm_seconds
        self.watch_age(lane.queue, seconds=limit + lane.config.visibility_seconds)
        self._alarm(
            "oldest-wait",
            self._of_supervisor(Measure.OLDEST_WAIT, self._period, "Maximum", **{LANE: lane.config.name}),
            of=lane.config.name,
            threshold=limit,
            missing=NO_DATA_TELLS_NOTHING,
            says=f"A job of the lane {lane.config.name} could have run for longer than {limit} s, and does not.",
        )

    def watch_age(self, queue: Queue, *, seconds: int) -> None:
        self._alarm(
            "oldest-message",
            queue.queue.metric_approximate_age_of_oldest_message(period=self._period, statistic="Maximum"),
            of=queue.name,
            threshold=seconds,
            says=f"A message has been in the queue {queue.name} for longer than {seconds} s.",
        )

    def watch_supervisor(self) -> None:
        minutes = self._limits.supervisor_silent_minutes
        self._alarm(
            "supervisor-silent",
            self._of_supervisor(Measure.ROUNDS, cdk.Duration.minutes(minutes), "Sum"),
            threshold=1,
            comparison=BELOW,
            missing=NO_DATA_IS_TROUBLE,
            says=f"The supervisor has ended no round for {minutes} min: nobody looks after work that was left behind.",
        )

    def watch_stream(self, consumer: Dispatcher | Recorder) -> None:
        name, seconds = consumer.function.name, self._limits.iterator_age_seconds
        self._alarm(
            "iterator-age",
            consumer.function.function.metric("IteratorAge", period=MINUTE, statistic="Maximum"),
            of=name,
            threshold=seconds * 1000,
            says=f"The {name} is more than {seconds} s behind the stream of the jobs table.",
        )
        self._alarm(
            "lost-records",
            cloudwatch.Metric(
                namespace="AWS/Lambda",
                metric_name="OnFailureDestinationDeliveredEventCount",
                dimensions_map={"EventSourceMappingUUID": consumer.mapping.event_source_mapping_id},
                period=MINUTE,
                statistic="Sum",
            ),
            of=name,
            threshold=1,
            says=f"The {name} gave up records of the jobs table's stream and put them into the bucket of "
            "lost records. The supervisor rings their jobs when due; histories lack what the recorder gave up.",
        )
        self._alarm(
            "undelivered-records",
            consumer.function.function.metric("DestinationDeliveryFailures", period=MINUTE, statistic="Sum"),
            of=name,
            threshold=1,
            says=f"Records that the {name} gave up could not even be put into the bucket of lost records.",
        )

    def watch_function(self, function: PythonFunction) -> None:
        errors, throttles = self._limits.errors(function.name), self._limits.throttles(function.name)
        minutes = self._limits.count_within_minutes
        period = cdk.Duration.minutes(minutes)
        self._alarm(
            "errors",
            function.function.metric_errors(period=period, statistic="Sum"),
            of=function.name,
            threshold=errors,
            says=f"The function {function.name} ended {errors} times or more within {minutes} min without an answer.",
        )
        self._alarm(
            "throttles",
            function.function.metric_throttles(period=period, statistic="Sum"),
            of=function.name,
            threshold=throttles,
            says=f"Lambda refused to run {function.name} {throttles} times or more within {minutes} min.",
        )

    def watch_api(self, api: Api) -> None:
        errors, minutes = self._limits.api_errors, self._limits.count_within_minutes
        self._alarm(
            "api-errors",
            api.http.metric_server_error(period=cdk.Duration.minutes(minutes), statistic="Sum"),
            threshold=errors,
            says=f"The API answered {errors} requests or more within {minutes} min with a status of 500 or above.",
        )

    def _of_supervisor(
        self, measure: Measure, period: cdk.Duration, statistic: str, **dimensions: str
    ) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=measure,
            dimensions_map={SERVICE: cdk.Stack.of(self).stack_name} | dimensions,
            period=period,
            statistic=statistic,
        )

    def _alarm(
        self,
        section: str,
        metric: cloudwatch.Metric,
        *,
        threshold: int,
        says: str,
        of: str | None = None,
        comparison: cloudwatch.ComparisonOperator = AT_LEAST,
        missing: cloudwatch.TreatMissingData = NO_DATA_IS_FINE,
    ) -> None:
        name = section if of is None else f"{section}-{of}"
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{cdk.Stack.of(self).stack_name}-{name}",
            metric=metric,
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=1,
            treat_missing_data=missing,
            alarm_description=f"{says} What to do: docs/runbook.md#{section}",
        )
        alarm.add_alarm_action(self._action)
