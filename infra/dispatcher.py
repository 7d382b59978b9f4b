"""The dispatcher: rings for every transition that the stream of the jobs table tells of."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from coatcheck.job import OWNED, State
from infra.config import Config
from infra.doorbells import Doorbells
from infra.python_function import PythonFunction
from infra.stream import LostRecords, feed_from_stream, transitions
from infra.tables import JobsTable


class Dispatcher(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        doorbells: Doorbells,
        lost_records: LostRecords,
    ) -> None:
        super().__init__(scope, id_)
        self.function = PythonFunction(
            self,
            "Dispatcher",
            config=config,
            code=code,
            name="dispatcher",
            handler="dispatcher",
            size=config.ring_function,
        )
        self.function.tell_timings(config)
        doorbells.let_ring(self.function)
        leaves_work = transitions(("INSERT", "MODIFY"), into=set(State) - set(OWNED))
        self.mapping = feed_from_stream(
            self.function, config=config, jobs=jobs, lost_records=lost_records, counts=leaves_work
        )
