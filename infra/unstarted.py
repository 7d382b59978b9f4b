"""Doorbells that no worker lived to answer: a small function settles their jobs."""

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import Config
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.tables import JobsTable


class Unstarted(Construct):
    """The redrive target of every lane."""

    def __init__(self, scope: Construct, id_: str, *, config: Config, code: lambda_.Code, jobs: JobsTable) -> None:
        super().__init__(scope, id_)
        self.queue = Queue(
            self,
            "Messages",
            config=config,
            name="unstarted",
            keep=cdk.Duration.days(config.queues.keep_dead_letters_days),
            visibility_seconds=config.queues.unstarted_visibility_seconds,
        )
        function = PythonFunction(
            self,
            "Unstarted",
            config=config,
            code=code,
            name="unstarted",
            handler="unstarted",
            size=config.ring_function,
        )
        function.tell_timings(config)
        jobs.grant(function, "GetItem", "UpdateItem")
        self.queue.feed(function, batch_size=1, maximum_concurrency=config.queues.unstarted_maximum_concurrency)
