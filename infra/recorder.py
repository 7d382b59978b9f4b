"""The recorder: writes down every transition that the stream of the jobs table tells of."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from coatcheck.job import State
from coatcheck.run import settings
from infra.config import Config
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.stream import LostRecords, feed_from_stream, transitions
from infra.tables import JobsTable


class Recorder(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        wake: Queue,
        lost_records: LostRecords,
    ) -> None:
        super().__init__(scope, id_)
        self.function = PythonFunction(
            self,
            "Recorder",
            config=config,
            code=code,
            name="recorder",
            handler="recorder",
            size=config.ring_function,
        )
        jobs.grant(self.function, "GetItem", "PutItem", "UpdateItem")
        wake.let_send(self.function, variable=settings.WAKE_QUEUE)
        # How a job began, its own row says for good.
        changes = transitions(("MODIFY",), into=State)
        self.mapping = feed_from_stream(
            self.function, config=config, jobs=jobs, lost_records=lost_records, counts=changes
        )
