"""What wakes somebody up: dead letters, messages that nobody takes, changes that never reached the dispatcher."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.dispatcher import Dispatcher
from infra.queue import Queue
from infra.recorder import Recorder

MINUTE = cdk.Duration.minutes(1)


class Alarms(Construct):
    """One topic that every alarm publishes to; operators subscribe to it."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
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
            "DeadLetters",
            queue.queue.metric_approximate_number_of_messages_visible(period=MINUTE, statistic="Maximum"),
            threshold=1,
            description="A job has failed for good. The message in the queue says which, and why.",
        )

    def watch_age(self, queue: Queue, *, seconds: int) -> None:
        self._alarm(
            f"Oldest-{queue.name}",
            queue.queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum"),
            threshold=seconds,
            description=f"A message has waited in the queue {queue.name} for longer than {seconds} s.",
        )

    def watch_stream(self, consumer: Dispatcher | Recorder) -> None:
        name = consumer.function.name
        self._alarm(
            f"LostRecords-{name}",
            cloudwatch.Metric(
                namespace="AWS/Lambda",
                metric_name="OnFailureDestinationDeliveredEventCount",
                dimensions_map={"EventSourceMappingUUID": consumer.mapping.event_source_mapping_id},
                period=MINUTE,
                statistic="Sum",
            ),
            threshold=1,
            description=f"The {name} gave up records of the jobs table's stream and put them into the bucket of "
            "lost records. The supervisor rings their jobs when due; histories lack what the recorder gave up.",
        )
        self._alarm(
            f"UndeliveredRecords-{name}",
            consumer.function.function.metric("DestinationDeliveryFailures", period=MINUTE, statistic="Sum"),
            threshold=1,
            description=f"Records that the {name} gave up could not even be put into the bucket of lost records.",
        )

    def _alarm(self, id_: str, metric: cloudwatch.Metric, *, threshold: int, description: str) -> None:
        alarm = cloudwatch.Alarm(
            self,
            id_,
            metric=metric,
            threshold=threshold,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=description,
        )
        alarm.add_alarm_action(self._action)
