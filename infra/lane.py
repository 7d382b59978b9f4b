"""Lanes: each a queue of doorbells and the worker function that answers them."""

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from coatcheck.run import settings
from infra.capacity import LaneConfig
from infra.config import Config
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.results_bucket import ResultsBucket
from infra.source import connect_source
from infra.tables import IdempotencyTable, JobsTable


class Lane(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        lane: LaneConfig,
        code: lambda_.Code,
        jobs: JobsTable,
        idempotency: IdempotencyTable,
        results: ResultsBucket,
        unstarted: Queue,
    ) -> None:
        super().__init__(scope, id_)
        self.config = lane
        self.queue = Queue(
            self,
            "Doorbells",
            config=config,
            name=lane.name,
            keep=cdk.Duration.days(config.queues.keep_lane_days),
            visibility_seconds=lane.visibility_seconds,
            redrive_to=unstarted,
        )
        self.worker = PythonFunction(
            self,
            "Worker",
            config=config,
            code=code,
            name=f"worker-{lane.name}",
            handler="worker",
            size=lane.size,
            layer_arns=lane.layer_arns,
        )
        self.worker.tell_timings(config)
        jobs.grant(self.worker, "GetItem", "PutItem", "Query", "UpdateItem")
        idempotency.grant(self.worker, "GetItem", "PutItem", "UpdateItem")  # for dead letters that come back
        results.let_write(self.worker)
        connect_source(self.worker, config.source)
        if lane.network:
            self.worker.place(lane.network)
        self.worker.tell(**{settings.LANE: lane.name, settings.LANE_QUEUE: self.queue.url})
        self.queue.feed(self.worker, batch_size=1, maximum_concurrency=config.maximum_concurrency[lane.name])


class Lanes(Construct):
    """All lanes of the configuration."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        idempotency: IdempotencyTable,
        results: ResultsBucket,
        unstarted: Queue,
    ) -> None:
        super().__init__(scope, id_)
        self._lanes = {
            lane.name: Lane(
                self,
                lane.name.capitalize(),
                config=config,
                lane=lane,
                code=code,
                jobs=jobs,
                idempotency=idempotency,
                results=results,
                unstarted=unstarted,
            )
            for lane in config.lanes
        }

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def let_send(self, function: PythonFunction) -> None:
        urls = {name: lane.queue.url for name, lane in self._lanes.items()}
        function.tell(**{settings.LANE_QUEUES: cdk.Stack.of(self).to_json_string(urls)})
        for lane in self:
            lane.queue.allow_send(function)
