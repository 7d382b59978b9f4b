"""The one way to make a queue: encrypted, TLS only, named, and fed to a function message by message."""

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.config import Config
from infra.python_function import PythonFunction


class Queue(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        name: str,
        keep: cdk.Duration,
        visibility_seconds: int = 30,
        redrive_to: "Queue | None" = None,
    ) -> None:
        super().__init__(scope, id_)
        self.name = name
        self.queue: sqs.Queue = sqs.Queue(
            self,
            "Queue",
            queue_name=f"{cdk.Stack.of(self).stack_name}-{name}",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not config.is_local,  # the emulator speaks plain HTTP on this machine
            retention_period=keep,
            visibility_timeout=cdk.Duration.seconds(visibility_seconds),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=redrive_to.queue, max_receive_count=config.queues.maximum_receive_count
            )
            if redrive_to
            else None,
        )

    @property
    def url(self) -> str:
        return self.queue.queue_url

    def let_send(self, function: PythonFunction, *, variable: str) -> None:
        function.tell(**{variable: self.url})
        self.allow_send(function)

    def allow_send(self, function: PythonFunction) -> None:
        function.allow("sqs:SendMessage", on=[self.queue.queue_arn])

    def feed(self, function: PythonFunction, *, batch_size: int, maximum_concurrency: int) -> None:
        """Invoke the function for the queue's messages; it says which of them failed, and may hide them longer."""
        function.allow(
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:ReceiveMessage",
            on=[self.queue.queue_arn],
        )
        lambda_.EventSourceMapping(
            self,
            "Feed",
            target=function.function,
            event_source_arn=self.queue.queue_arn,
            batch_size=batch_size,
            max_concurrency=maximum_concurrency,
            report_batch_item_failures=True,
        )
